"""What scripts say to each other goes by radio, in the same way every time, or is refused; nothing passes it by."""

from __future__ import annotations

import json

import airloom as al
from airloom.scenario import load

SCENARIO = """
name: talking
duration: 1.5
engine: batch
radio: {}
vehicles:
  a: {extends: multirotor, pose: {position: [0, 0, 0.05]}}
  b: {extends: multirotor, pose: {position: [30, 0, 0.05]}}
  far: {extends: multirotor, pose: {position: [5000, 0, 0.05]}}
members:
"""


def flown(folder, script, vehicles="ab"):
    """What the script printed for each vehicle, and the state in which the run ended."""
    (folder / "script.py").write_text(script)
    text = SCENARIO
    for name in vehicles:
        command = f"[python, -m, airloom, exec, script.py, {name}]"
        text += f"  m_{name}: {{command: {command}, vehicles: {name}, rate: 100}}\n"
    (folder / "talking.yaml").write_text(text)
    with al.Simulation(load(folder / "talking.yaml")) as sim:
        sim.member_logs = folder
        sim.run()
        return {name: (folder / f"member-m_{name}.txt").read_text() for name in vehicles}, sim.state_hash()


MULTICAST = """
import select, socket, struct, sys, time
one = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
one.bind(("", 5007))
one.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, struct.pack("4sl", socket.inet_aton("239.7.7.7"), 0))
one.setsockopt(socket.IPPROTO_IP, socket.IP_MULTICAST_LOOP, 0)
heard = []
for turn in range(20):
    one.sendto(f"{turn} from {sys.argv[1]}".encode(), ("239.7.7.7", 5007))
    end = time.time() + 0.05
    while (left := end - time.time()) > 0:
        if select.select([one], [], [], left)[0]:
            heard.append(one.recvfrom(1000))
print(len(heard), sorted({(data.split()[-1].decode(), by) for data, by in heard}))
"""


def test_multicast_reaches_those_in_reach_and_each_run_is_the_same(tmp_path):
    runs = [flown(tmp_path, MULTICAST, ("a", "b", "far")) for _ in range(2)]
    assert runs[0] == runs[1]
    said = runs[0][0]
    assert said["far"] == "0 []\n", "5 km away"
    for me, other, address in (("a", "b", "10.73.0.2"), ("b", "a", "10.73.0.1")):
        count, whom = said[me].split(" ", 1)
        assert 15 < int(count) <= 20, "one or two may collide"
        assert whom == f"[('{other}', ('{address}', 5007))]\n"


LIBRARIES = """
import asyncio, json, socket, sys, time
from pymavlink import mavutil
me = sys.argv[1]
line = mavutil.mavlink_connection("mcast:", source_system=1 + (me == "b"))
tell = {}

class Talk(asyncio.DatagramProtocol):
    def connection_made(self, transport): self.transport = transport
    def datagram_received(self, data, address): tell["asyncio"] = [data.decode(), *address]

async def main():
    loop = asyncio.get_running_loop()
    transport, _ = await loop.create_datagram_endpoint(Talk, local_addr=("0.0.0.0", 6000), allow_broadcast=True)
    peer = {"a": "b", "b": "a"}[me]
    sending, _ = await loop.create_datagram_endpoint(Talk, remote_addr=(peer, 6000))
    for _ in range(10):
        sending.sendto(b"from " + me.encode())
        await asyncio.sleep(0.05)
    try:
        await asyncio.open_connection(peer, 80)
    except OSError as error:
        tell["tcp"] = [type(error).__name__, error.errno]
    try:
        await loop.run_in_executor(None, socket.create_connection, (peer, 80))
    except OSError as error:
        tell["tcp too"] = [type(error).__name__, error.errno]
asyncio.run(main())

for _ in range(10):
    line.mav.heartbeat_send(2, 0, 0, 0, 0)
    time.sleep(0.05)
    while (message := line.recv_match(type="HEARTBEAT")) is not None:
        tell["mavlink"] = message.get_srcSystem()
tell["names"] = [socket.getaddrinfo("b", 80, socket.AF_INET, socket.SOCK_DGRAM)[0][4], socket.gethostbyname_ex("a")[2]]
print(json.dumps(tell))
"""


def test_libraries_talk_by_radio_and_are_refused_what_it_does_not_carry(tmp_path):
    """pymavlink by multicast, asyncio to a name, TCP to a name."""
    said, _ = flown(tmp_path, LIBRARIES)
    for me, other, system in (("a", "b", 2), ("b", "a", 1)):
        *told, last = said[me].splitlines()
        tell = json.loads(last)
        address = f"10.73.0.{2 if other == 'b' else 1}"
        assert tell["asyncio"][:2] == [f"from {other}", address]
        assert tell["tcp"] == tell["tcp too"] == ["ConnectionRefusedError", 111]
        assert tell["mavlink"] == system
        assert tell["names"] == [["10.73.0.2", 80], ["10.73.0.1"]]
        assert [line for line in told if "airloom exec" in line] == [
            f"airloom exec: TCP to {address} is not carried by the simulated radio: use UDP over IPv4 instead"
        ]
