"""What event_file.cpp writes, read by a decoder of its own: checksums bit by bit, fields by their numbers."""
import math
import os
import struct
import subprocess

import pytest


def crc32c(data):
    crc = 0xFFFFFFFF
    for byte in data:
        crc ^= byte
        for _ in range(8):
            crc = (crc >> 1) ^ (0x82F63B78 if crc & 1 else 0)
    return crc ^ 0xFFFFFFFF


def masked(data):
    crc = crc32c(data)
    return ((crc >> 15 | crc << 17) + 0xA282EAD8) & 0xFFFFFFFF


def records(data):
    while data:
        length, length_crc = struct.unpack_from("<QI", data)
        assert length_crc == masked(data[:8])
        body, (body_crc,) = data[12 : 12 + length], struct.unpack_from("<I", data, 12 + length)
        assert len(body) == length and body_crc == masked(body)
        yield body
        data = data[16 + length :]


def varint(data, at):
    value = shift = 0
    while True:
        value |= (data[at] & 0x7F) << shift
        shift, at = shift + 7, at + 1
        if data[at - 1] < 0x80:
            return value, at


def fields(data):
    at, found = 0, []
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size, at = {1: (8, at), 5: (4, at)}.get(key & 7) or varint(data, at)
            value, at = data[at : at + size], at + size
        found.append((key >> 3, value))
    return found


def events(path):
    for record in records(path.read_bytes()):
        event = dict(fields(record))
        scalars = {}
        for number, value in fields(event.get(5, b"")):
            scalar = dict(fields(value))
            assert number == 1
            scalars[scalar[1].decode()] = struct.unpack("<f", scalar[2])[0]
        yield struct.unpack("<d", event[1])[0], event[2], event.get(3), scalars, event.get(7)


@pytest.fixture
def files(tmp_path):
    subprocess.run([os.environ["CUDAL1_EVENT_DRIVER"], tmp_path], check=True)
    return sorted(tmp_path.iterdir())


def test_every_number_is_there_with_its_step_and_time(files):
    version, start, *steps = events(files[0])
    assert version == (1700000000.5, 0, b"brain.Event:2", {}, None)
    assert start[1] == 1
    assert [(time, step) for time, step, *_ in steps] == [(1700000000.5 + step, step) for step in range(1, 5)]
    assert [scalars["reward"] for *_, scalars, _ in steps] == [0.25, 0.5, 0.75, 1.0]
    assert steps[2][3]["entropy"] == pytest.approx(1 / 3, rel=1e-7)
    version, start, third, last = events(files[1])
    assert third[3]["reward"] == -7.5 and math.isnan(third[3]["loss"])
    assert last[1] == 300 and last[3]["reward"] == pytest.approx(1e30, rel=1e-6)


def test_a_second_start_takes_back_what_comes_again(files):
    time, step, version, scalars, session = list(events(files[1]))[1]
    assert (step, scalars, fields(session)) == (3, {}, [(1, 1)])


def test_tensorboard_shows_each_step_once(files):
    accumulator = pytest.importorskip("tensorboard.backend.event_processing.event_accumulator")
    read = accumulator.EventAccumulator(str(files[0].parent))
    read.Reload()
    assert [event.step for event in read.Scalars("reward")] == [1, 2, 3, 300]
    assert read.Scalars("reward")[2].value == -7.5
