"""Our AdamW changes parameters as torch.optim.AdamW(fused=True) does."""

import json
import os
import subprocess

import pytest
import torch

DRIVER = os.environ["CUDAL1_ADAMW_DRIVER"]
STEPS = 12


def job(longest, dtype="f32"):
    """Two groups; gradients from huge to tiny, with zeros among them."""
    torch.manual_seed(3)
    groups = []
    for number, (decay, factor) in enumerate([(0.1, 1.0), (0.0, 0.25)]):
        parameters = {}
        for part, size in enumerate([1, 7, 300]):
            gradients = torch.randn(STEPS, size) * 10.0 ** torch.randint(-6, 3, (STEPS, 1))
            gradients[:, ::5] = 0.0
            parameters[f"p{number}.{part}"] = {"values": torch.randn(size).tolist(), "dtype": dtype, "gradients": gradients.tolist()}
        groups.append({"weight_decay": decay, "factor": factor, "parameters": parameters})
    rates = [1e-2 / (step + 1) for step in range(STEPS)]
    return {"rates": rates, "longest": longest, "beta1": 0.9, "beta2": 0.95, "epsilon": 1e-8, "groups": groups}


def ours(work, tmp_path):
    file = tmp_path / "job.json"
    file.write_text(json.dumps(work))
    done = subprocess.run([DRIVER, str(file)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def theirs(work):
    parameters, groups = {}, []
    for group in work["groups"]:
        named = {name: torch.tensor(p["values"], requires_grad=True) for name, p in group["parameters"].items()}
        parameters |= named
        groups.append({"params": list(named.values()), "weight_decay": group["weight_decay"], "factor": group["factor"]})
    optimiser = torch.optim.AdamW(groups, lr=1.0, betas=(work["beta1"], work["beta2"]), eps=work["epsilon"], fused=True)
    after = {name: [] for name in parameters}
    gradients = {name: p["gradients"] for group in work["groups"] for name, p in group["parameters"].items()}
    for step, rate in enumerate(work["rates"]):
        for name, parameter in parameters.items():
            parameter.grad = torch.tensor(gradients[name][step])
        if work["longest"]:
            torch.nn.utils.clip_grad_norm_(parameters.values(), work["longest"])
        for group in optimiser.param_groups:
            group["lr"] = rate * group["factor"]
        optimiser.step()
        for name, parameter in parameters.items():
            after[name].append(parameter.tolist())
    return after


@pytest.mark.parametrize("longest", [None, 1.0])
def test_every_step_is_that_of_torch(longest, tmp_path):
    work = job(longest)
    found, expected = ours(work, tmp_path), theirs(work)
    assert found.keys() == expected.keys()
    for name, steps in expected.items():
        torch.testing.assert_close(torch.tensor(found[name]), torch.tensor(steps), rtol=1e-6, atol=1e-7)


def test_bf16_parameters_follow_their_fp32_twins(tmp_path):
    work = job(None, "bf16")
    for group in work["groups"]:  # what bf16 can hold, so that both begin and are pushed alike
        for parameter in group["parameters"].values():
            for key in ("values", "gradients"):
                parameter[key] = torch.tensor(parameter[key]).bfloat16().tolist()
    found, expected = ours(work, tmp_path), theirs(work)
    for name, steps in expected.items():
        assert torch.equal(torch.tensor(found[name]), torch.tensor(steps).bfloat16().float()), name
