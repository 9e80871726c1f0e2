"""What ``treebp inspect`` shows: one sentence, its tree and the way there, as a page of HTML."""

from string import Template

import numpy as np

from treebp.drawing.arc_diagram import STYLE as TREE_STYLE
from treebp.drawing.arc_diagram import arc_diagram, belief_line, shown_label
from treebp.drawing.line_plot import line_plot
from treebp.drawing.markup import as_text, page_of
from treebp.drawing.writing import runs_right_to_left, shortened
from treebp.parsing.inspection import Inspection

_NAMED = 4  # so many words have their names in the plot, those whose belief moved most
_STILL = 0.005  # and which moved more than this
_RUNNERS_UP, _LEAST = 3, 0.01  # the table's other heads, and the least belief of one
_SHOWN_CHANGES = 10
_LONGEST = 24.0  # a longer word is cut in the table, in units of its font size
_STYLE = """\
body { max-width: 76rem }
.sentence { font-size: 1.15rem; line-height: 1.7; max-width: none }
.source { color: var(--soft); font-size: 0.875rem }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(9rem, 1fr)); gap: 1rem 1.5rem; margin: 1.5rem 0 0;
     padding: 1rem 0; border-block: 1px solid var(--rule) }
dt { color: var(--soft); font-size: 0.875rem }
dd { margin: 0; font-size: 1.25rem; font-variant-numeric: tabular-nums }
dd small { display: block; font-size: 0.875rem; color: var(--soft) }
.legend { display: flex; flex-wrap: wrap; gap: 0.25rem 1.5rem; list-style: none; margin: 0.5rem 0; padding: 0;
          color: var(--soft); font-size: 0.875rem }
.legend svg { display: inline-block; vertical-align: middle; margin-inline-end: 0.5rem }
.words td { white-space: nowrap }
.words td:last-child { white-space: normal; min-width: 14rem }
.words .right { color: var(--blue) }
.words .wrong { color: var(--red) }
.words .soft { color: var(--soft) }
"""
_BODY = Template("""<h1>$title</h1>
<p class="sentence" dir="$direction">$sentence</p>
<p class="source">$source</p>
<dl>
$facts
</dl>
<h2>Tree</h2>
<p>Above the words is the tree that was chosen$below. Point at a word, or move to it with the Tab key, to see all
the heads that it might have had, each with its belief.</p>
$legend
<div class="scroll" dir="$direction">
$tree</div>
<h2>Beliefs on the way</h2>
$movement
<h2>Words</h2>
<div class="scroll">
<table class="words">
$table
</table>
</div>""")


def inspect_page(inspection: Inspection, *, number: int, model: str) -> str:
    """The page about a sentence, the ``number``-th of its file, as a model parses it."""
    sentence = inspection.parse.sentence
    right_to_left = runs_right_to_left(sentence.forms)
    has_gold = any(head >= 0 for head in sentence.heads)
    body = _BODY.substitute(
        title=f"Sentence {number:,}",
        direction="rtl" if right_to_left else "ltr",
        sentence=" ".join(f"<bdi>{as_text(form)}</bdi>" for form in sentence.forms),
        source=as_text(f"{sentence.source}, line {sentence.line}, parsed with {model}"),
        facts="\n".join(_facts(inspection, has_gold)),
        below=", below them the gold arcs that it misses" if "wrong" in inspection.verdicts else "",
        legend=_legend(inspection),
        tree=arc_diagram(inspection, right_to_left=right_to_left),
        movement=_movement(inspection),
        table="\n".join(_table(inspection, has_gold)),
    )
    return page_of(f"Sentence {number:,} · treebp", body, TREE_STYLE + _STYLE)


def _facts(inspection: Inspection, has_gold: bool) -> list[str]:
    parse, verdicts = inspection.parse, inspection.verdicts
    words, arcs = len(parse.heads), len(parse.beliefs)
    kinds = ", ".join(f"{count:,} {name}" for name, count in parse.factors.items()) or "none"
    facts = [("expected right heads", f"{parse.head_probabilities.sum():.1f} of {words:,}", "the sum of their beliefs")]
    if has_gold:
        labelled = verdicts.count("right")
        heads = labelled + verdicts.count("other label")
        known = words - verdicts.count("unknown")
        facts.insert(0, ("right heads", f"{heads:,} of {known:,}", f"{labelled:,} with their label"))
    facts += [
        ("candidate arcs", f"{arcs:,}", f"{arcs / words:.1f} per word, after pruning"),
        ("factors on several arcs", f"{sum(parse.factors.values()):,}", kinds),
        (
            "tree factor",
            "projective" if inspection.projective else "non-projective",
            "one root word" if inspection.single_root else "any number of root words",
        ),
    ]
    if not len(inspection.history):
        facts.append(("inference", "exact", "no iterations"))
    else:
        state = "converged" if parse.converged else f"not converged, last change {parse.residual:.3f}"
        facts.append(("iterations", f"{len(inspection.history):,}", state))
    return [f"<div><dt>{name}</dt><dd>{value}<small>{detail}</small></dd></div>" for name, value, detail in facts]


def _legend(inspection: Inspection) -> str:
    verdicts = set(inspection.verdicts)
    items = [f"{_sample('', belief)}belief {belief:g}" for belief in (0.2, 0.6, 1.0)]
    if verdicts != {"unknown"}:
        items.append(_sample("right", 0.8) + "right head")
    if "other label" in verdicts:
        items.append("≈ right head, another label")
    if "wrong" in verdicts:
        items += [_sample("wrong", 0.8) + "✗ wrong head", _sample("gold", 0.4) + "gold arc that was missed"]
    return "\n".join(['<ul class="legend">', *(f"<li>{item}</li>" for item in items), "</ul>"])


def _sample(kind: str, belief: float) -> str:
    drawn = f'<g class="{kind}">{belief_line("M0 4H36", belief)}</g>'
    return f'<svg class="tree" width="36" height="8" aria-hidden="true">{drawn}</svg>'


def _movement(inspection: Inspection) -> str:
    if not len(inspection.history):
        several = any(inspection.parse.factors.values())
        reason = "Inference was exact" if several else "Without other factors the tree factor alone gives exact beliefs"
        return f"<p>{reason}: there were no iterations in which beliefs could move.</p>"
    if len(inspection.history) == 1:
        return "<p>There was a single iteration of belief propagation, so no belief could move.</p>"
    history, forms = np.clip(inspection.head_history, 0.0, 1.0), inspection.parse.sentence.forms
    moved = np.ptp(history, axis=0)
    most = [int(word) for word in np.argsort(-moved, kind="stable")[:_NAMED] if moved[word] > _STILL]
    names = {word: f"{word + 1} {shortened(form, 5.0)}" for word, form in enumerate(forms)}
    plot = line_plot(
        range(1, len(history) + 1),
        {names[word]: history[:, word].tolist() for word in sorted(most)},
        muted={names[word]: history[:, word].tolist() for word in names if word not in most},
        across="iterations of belief propagation",
        up="belief in the head chosen at last",
        within=(0.0, 1.0),
    )
    named = "those that moved most have their names" if most else "none moved noticeably"
    changes = ", ".join(f"{change:.3f}" for change in inspection.changes[:_SHOWN_CHANGES])
    more = ", …" if len(inspection.changes) > _SHOWN_CHANGES else ""
    return (
        f"<p>A line per word: how strongly its head in the final tree was believed in; {named}. The largest change of "
        f"any belief, iteration by iteration from the second: {changes}{more}.</p>\n"
        f'<div class="scroll">\n{plot}</div>'
    )


def _table(inspection: Inspection, has_gold: bool) -> list[str]:
    parse, sentence = inspection.parse, inspection.parse.sentence

    def named(head: int) -> str:
        return f"{head} {_isolated(sentence.forms[head - 1])}" if head else "root"

    names = ["word", "tag", "head", "label", "belief", *(["gold"] if has_gold else []), "other heads"]
    rows = ['<tr><th class="number">#</th>' + "".join(f"<th>{name}</th>" for name in names) + "</tr>"]
    for word, verdict in enumerate(inspection.verdicts, start=1):
        head, gold = int(parse.heads[word - 1]), sentence.heads[word - 1]
        others = [pair for pair in inspection.candidates(word) if pair[0] != head and pair[1] >= _LEAST][:_RUNNERS_UP]
        gold_label = as_text(shown_label(sentence.labels[word - 1]))
        kind, comparison = {
            "right": ("right", "✓"),
            "other label": ("wrong", f"≈ {gold_label}"),
            "wrong": ("wrong", f"✗ {named(gold)} {gold_label}"),
            "unknown": ("soft", ""),
        }[verdict]
        rows.append(
            f'<tr><td class="number soft">{word}</td><td>{_isolated(sentence.forms[word - 1])}</td>'
            f'<td class="soft">{as_text(inspection.tags[word - 1])}</td><td>{named(head)}</td>'
            f"<td>{as_text(shown_label(parse.labels[word - 1]))}</td><td>{parse.head_probabilities[word - 1]:.2f}</td>"
            + (f'<td class="{kind}">{comparison}</td>' if has_gold else "")
            + f'<td class="soft">{", ".join(f"{named(other)} {belief:.2f}" for other, belief in others)}</td></tr>'
        )
    return rows


def _isolated(form: str) -> str:
    """A word, cut if it is very long, which does not turn what stands around it to its own direction."""
    return f"<bdi>{as_text(shortened(form, _LONGEST))}</bdi>"
