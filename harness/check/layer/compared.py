# SPDX-License-Identifier: Apache-2.0
"""What a layer may do to a call without anybody noticing, and what not.

A layer may hand on memory of its own in the place of an application's, as long as what arrives there, and what comes
back, is the same; functions of its own in the place of callbacks; and, where it has handles of its own, the target's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from harness.calllog.reader import CallLog, Event
from harness.probe.layer_session import OrdinaryCall
from harness.probe.objects import Objects
from harness.probe.values import pack
from harness.probe.whole_api import exchanges

_COPIED_BACK = ("handle_out", "scalar_out", "errcode")
_COPIED = ("string", "handles", "scalar_in", "properties")

Handles = Mapping[int, int]  # the application's handle of each of the vendors'


def _told(log: CallLog, name: str, owner: str, output: str) -> int:
    """The first handle that a vendor's function gave through an output."""
    answers = (event.data.get("out", {}).get(output) for event in log.returns(name, by=owner))
    return next((int(answer, 16) for answer in answers if answer), 0)


def handles_of(log: CallLog, known: Iterable[Objects]) -> dict[int, int]:
    """What vendors' handles are called by the application, as the calls show that made them or told them."""
    result: dict[int, int] = {}
    for objects in known:
        result[_told(log, "clIcdGetPlatformIDsKHR", objects.owner, "platforms")] = int(objects.platform)
        if device := objects.forget("cl_device_id"):  # not made for this
            result[_told(log, "clGetDeviceIDs", objects.owner, "devices")] = int(device)
    for exchange in exchanges(log):
        outer = exchange.returns(by="application")
        inner = exchange.returns(exchange[0].name)
        if outer and len(inner) > 1 and exchange[0].name.startswith("clCreate"):
            result[inner[0].result or 0] = outer[0].result or 0
    result.pop(0, None)
    return result


class Comparison:
    """One call and its slice of the log: `problems` says what the application or the vendor would notice.

    handles: where the layer has handles of its own; those that the application had before the call count only.
    """

    def __init__(self, call: OrdinaryCall, log: CallLog, handles: Handles | None = None) -> None:
        self.call = call
        self.handles = handles
        sent = next((e for e in log.calls(by="application")), None)
        owner = call.objects.owner
        self.log = CallLog([self._as_sent(e, sent) if sent and e.who == owner and e.kind == "call" else e for e in log])

    def problems(self) -> list[str]:
        """What is wrong with how the call arrived and what it answered, a sentence each; empty where all is right."""
        call, log = self.call, self.log
        result = call.routing_problems(log) + call.argument_problems(log)
        if self.handles is None:
            return result + call.answer_problems()
        return result  # a handle of the layer's own comes back in the place of a pattern

    def _as_sent(self, arrived: Event, sent: Event) -> Event:
        """The event with what nobody notices replaced by what was sent."""
        if arrived.name != sent.name or len(arrived.arguments) != len(sent.arguments):
            return arrived
        data = dict(arrived.data)
        data["in"] = dict(data.get("in", {}))
        values = [self._value(i, arrived, sent, data["in"]) for i in range(len(sent.arguments))]
        return Event(
            arrived.time,
            arrived.thread,
            arrived.who,
            arrived.kind,
            arrived.name,
            tuple(values),
            arrived.result,
            data,
        )

    def _value(self, index: int, arrived: Event, sent: Event, seen: dict[str, list[str]]) -> int:
        parameter = self.call.function.parameters[index]
        had, want = arrived.arguments[index], sent.arguments[index]
        content = self.call.sent[index].content
        if self.handles is not None and parameter.name in seen and parameter.kind in ("handles", "properties"):
            seen[parameter.name] = [
                hex(self.handles.get(int(word, 16), int(word, 16))) for word in seen[parameter.name]
            ]
        if parameter.kind == "handle":
            return self.handles.get(had, had) if self.handles is not None else had
        if parameter.kind in _COPIED_BACK or parameter.name == "param_value":
            optional = parameter.kind in ("scalar_out", "errcode")
            return self._hidden(parameter.name, had, want, bool(had) == bool(want) or (optional and not want), seen)
        if parameter.kind == "callback" or parameter.name == "user_data":
            return self._hidden(parameter.name, had, want, bool(had) == bool(want), seen)
        if parameter.kind in _COPIED and had and want and had != want and content:
            words = seen.get(parameter.name, [])[: len(content) // 8]  # past the copy there may be anything
            same = pack(int(word, 16) for word in words) == content[: 8 * len(words)]
            return self._hidden(parameter.name, had, want, bool(words) and same, seen)
        return had

    @staticmethod
    def _hidden(name: str, had: int, want: int, same: bool, seen: dict[str, list[str]]) -> int:
        """What was sent, where another pointer is as good; what it points to is nobody's business."""
        if not same or had == want:
            return had
        seen.pop(name, None)
        return want


def problems(call: OrdinaryCall, log: CallLog, handles: Handles | None = None) -> list[str]:
    """What a layer did to a call that must not be noticed, one line each; `handles`: those that it made of its own."""
    return Comparison(call, log, handles).problems()
