"""Belief propagation with whole groups at a time, forward and backward."""

from collections.abc import Callable, Sequence
from typing import NamedTuple

import numpy as np

from treebp._types import FloatArray
from treebp.bp.graph import Graph
from treebp.bp.groups.protocol import GroupBackprop, Sender
from treebp.bp.memory import empty
from treebp.bp.outcome import Options, Outcome, impossible_factor, impossible_variable, to_logs
from treebp.bp.schedule import GroupPlan, GroupStep
from treebp.kernels import ratios
from treebp.kernels import variables as kernels
from treebp.kernels.stretch import deliver

_NOTHING = np.zeros(0)


class _Sent(NamedTuple):
    """What the backward pass needs to know of one group's messages."""

    step: GroupStep
    backprops: list[GroupBackprop]


class GroupRun:
    """The messages of a graph, sent group by group.

    `_incoming[g]` and `_outgoing[g]` are the last messages to and from group g, `_gathered[g]` the latter added up, as
    logarithms, at each slot. Each iteration has memory of its own for messages, so that the backward pass finds them.
    """

    def __init__(self, graph: Graph, senders: Sequence[Sender], options: Options) -> None:
        self._graph, self._senders, self._options = graph, senders, options
        uniform = self._uniform()
        self._incoming, self._outgoing = list(uniform), list(uniform)  # new messages take their places
        self._gathered = np.zeros((len(senders), graph.slot_count))
        self._scratch = np.empty(graph.slot_count)
        self._memory: list[tuple[FloatArray, FloatArray]] = []
        self._tape: list[_Sent] = []
        self._change = 0.0
        # What always says the same need not be asked again, nor told anything before the end.
        self._constant = frozenset(k for k, one in enumerate(senders) if one.constant and options.damping == 0.0)

    def _uniform(self) -> list[FloatArray]:
        """Messages that say nothing."""
        flat = self._graph.uniform
        return [
            np.ones(own.stop - own.start) if sender.in_ratios else flat[own]
            for own, sender in zip(self._graph.ranges, self._senders, strict=True)
        ]

    def run(self, plan: GroupPlan, iterations: int) -> Outcome:
        """Send all messages this many times, at most."""
        options, residuals = self._options, list[float]()
        before, totals = self._scratch, np.zeros(self._graph.slot_count)
        waiting: list[GroupStep] = []  # what no group has been asked to answer yet
        at_first = [step if not step.from_variables else self._but_constant(step) for step in plan]
        later = [step for step in map(self._but_constant, plan) if step.groups]
        while len(residuals) < iterations:
            self._change = 0.0
            to_factors, to_variables = self._rows(len(residuals))
            for step in later if residuals else at_first:
                if step.from_variables:
                    waiting.append(step)
                else:
                    self._from_variables(waiting, to_factors)
                    self._from_groups(step, to_variables)
            if options.watch:
                self._from_variables(waiting, to_factors)
            if options.tolerance is not None or iterations - len(residuals) <= 2:  # the last two are wanted
                before, totals = totals, self._total()
            residuals.append(self._change)
            if options.tolerance is not None and self._change < options.tolerance:
                break
        waiting.append(GroupStep(True, tuple(self._constant)))

        def incoming() -> list[FloatArray]:
            """The last messages to all groups; some of them are never asked for, and not sent before they are."""
            self._from_variables(waiting, np.empty(self._graph.entry_count))
            return self._incoming

        return Outcome(
            self._graph, self._senders, incoming, self._outgoing, totals, before, np.array(residuals), self.backward
        )

    def _but_constant(self, step: GroupStep) -> GroupStep:
        return GroupStep(step.from_variables, tuple(group for group in step.groups if group not in self._constant))

    def _rows(self, iteration: int) -> tuple[FloatArray, FloatArray]:
        """Memory for the messages of an iteration: without a backward pass, that of the last but one."""
        if not self._options.gradient and iteration >= 2:
            return self._memory[iteration % 2]
        rows = empty(self._graph.entry_count), empty(self._graph.entry_count)
        self._memory.append(rows)
        return rows

    def _total(self) -> FloatArray:
        total = np.empty(self._graph.slot_count)
        ratios.totals(self._gathered, -1, total)
        return total

    def _from_variables(self, steps: list[GroupStep], rows: FloatArray) -> None:
        """Send what has been waiting to be sent to groups, which then waits no longer."""
        for step in steps:
            for group in step.groups:
                self._to_group(group, rows[self._graph.ranges[group]])
            if self._options.gradient and step.groups:
                self._tape.append(_Sent(step, []))
        steps.clear()

    def _to_group(self, group: int, sent: FloatArray) -> None:
        graph, slots = self._graph, self._graph.slots[group]
        if self._senders[group].in_ratios:
            ratios.divide(self._gathered, slots, self._outgoing[group], self._scratch, sent)
        elif graph.one_to_one[group]:
            ratios.totals(self._gathered, group, sent)
        elif not kernels.subtract(self._gathered, slots, self._outgoing[group], self._scratch, sent):
            self._send_large(group, sent)
        self._deliver(group, self._incoming, sent, impossible_variable)

    def _send_large(self, group: int, sent: FloatArray) -> None:
        """The same where messages are too large, or infinite, to be subtracted from a sum."""
        graph = self._graph
        flat = np.concatenate([to_logs(sender, own) for sender, own in zip(self._senders, self._outgoing, strict=True)])
        everywhere, edges = np.empty_like(flat), graph.edges
        own = graph.ranges[group]
        entries = own.start + np.argsort(graph.slots[group], kind="stable")
        kernels.send_some(
            entries, edges.slots, edges.first_of_slot, edges.slot_entries, flat, np.empty(len(flat) + 1), everywhere
        )
        sent[:] = everywhere[own]

    def _from_groups(self, step: GroupStep, rows: FloatArray) -> None:
        graph, backprops = self._graph, []
        for group in step.groups:
            sender, sent, slots = self._senders[group], rows[graph.ranges[group]], graph.slots[group]
            backprops.append(sender.send(self._incoming[group], sent, self._options.gradient))
            self._deliver(group, self._outgoing, sent, impossible_factor)
            if sender.in_ratios:
                ratios.gather_ratios(slots, sent, sender.strongest, self._scratch, self._gathered[group])
            elif graph.one_to_one[group]:
                self._gathered[group] = sent
            else:
                kernels.gather_logs(slots, sent, self._gathered[group])
        if self._options.gradient:
            self._tape.append(_Sent(step, backprops))

    def _deliver(
        self,
        group: int,
        messages: list[FloatArray],
        sent: FloatArray,
        impossible: Callable[[Graph, int, int], ValueError],
    ) -> None:
        """Check, mix with the old messages and store what was sent to or from a group."""
        graph, damping, watch = self._graph, self._options.damping, self._options.watch
        old, messages[group] = messages[group], sent
        if self._senders[group].in_ratios:
            if damping > 0.0:
                sent[:] = np.exp((1.0 - damping) * np.log(sent) + damping * np.log(old))
            if watch:
                self._change = max(self._change, kernels.largest_ratio_change(old, sent))
            return
        if graph.binary:
            edge = ratios.first_nan(sent)
            if damping > 0.0:
                sent *= 1.0 - damping
                sent += damping * old
            if watch:
                self._change = max(self._change, kernels.largest_log_odds_change(old, sent))
        else:
            first, end = graph.first_edge[group : group + 2].tolist()
            edges = graph.edges._replace(
                first_entry=graph.edges.first_entry[first : end + 1] - graph.ranges[group].start,
                states=graph.edges.states[first:end],
            )
            change, edge = deliver(np.arange(end - first), edges, sent, damping, old.copy())
            self._change = max(self._change, change)
        if edge >= 0:
            raise impossible(graph, group, edge)

    def backward(
        self, of_slots: FloatArray, of_incoming: list[FloatArray | None], of_potentials: list[FloatArray]
    ) -> None:
        """From the adjoints of the slots' totals and of the last messages to groups, to those of log-potentials.

        `of_incoming` is overwritten, `of_potentials` added to.
        """
        graph, damping = self._graph, self._options.damping
        # Each message was part of all that its slot sent since, but for what went along its own entry: so the adjoint
        # of the messages from group g is of_slots[g], spread over its entries, less own[g].
        of_groups = np.tile(of_slots, (len(self._senders), 1))
        own: list[FloatArray] = [_NOTHING] * len(self._senders)
        for sent in reversed(self._tape):
            if not sent.step.from_variables:
                for group, backprop in zip(sent.step.groups, sent.backprops, strict=True):
                    adjoint = empty(len(graph.slots[group]))
                    kernels.spread_adjoints(graph.slots[group], of_groups[group], own[group], adjoint)
                    of_groups[group], own[group] = 0.0, -damping * adjoint if damping else _NOTHING
                    received = backprop((1.0 - damping) * adjoint if damping else adjoint, of_potentials[group])
                    of_incoming[group] = _sum(of_incoming[group], received)
                continue
            totals = np.zeros(graph.slot_count)
            for group in sent.step.groups:
                adjoint_ = of_incoming[group]
                if adjoint_ is not None:
                    of_incoming[group] = damping * adjoint_ if damping else None
                    through = (1.0 - damping) * adjoint_ if damping else adjoint_
                    kernels.gather_adjoints(graph.slots[group], through, totals)
                    own[group] = own[group] + through if len(own[group]) else through
            of_groups += totals


def _sum(one: FloatArray | None, two: FloatArray | None) -> FloatArray | None:
    if one is None or two is None:
        return one if two is None else two
    return one + two
