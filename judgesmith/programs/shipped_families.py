"""The families of judges that come with the package."""

from __future__ import annotations

from judgesmith.programs.family import Family

ACTIVE_CRITIC = "active-critic"
"""The family that is taken where none is named."""

SHIPPED: tuple[Family, ...] = (
    Family(
        name=ACTIVE_CRITIC,
        judge="judgesmith.programs.active_critic:ActiveCritic",
        protocol="judgesmith.signatures.protocol:Protocol",
        steps="judgesmith.programs.critic_steps:critic_steps",
        forms="judgesmith.programs.critic_questions:critic_forms",
        about="scores every criterion with an explanation, then weighs them into one score",
        has_demonstrations=True,
    ),
    Family(
        name="direct",
        judge="judgesmith.programs.direct:Direct",
        protocol="judgesmith.signatures.direct:DirectProtocol",
        steps="judgesmith.programs.direct_steps:direct_steps",
        forms="judgesmith.programs.direct_steps:direct_forms",
        about="asks for a score and nothing else, of the whole or of each criterion",
    ),
    Family(
        name="exemplar",
        judge="judgesmith.programs.exemplar:ExemplarJudge",
        protocol="judgesmith.signatures.exemplars:ExemplarProtocol",
        steps="judgesmith.programs.exemplar_steps:exemplar_steps",
        forms="judgesmith.programs.exemplar_steps:exemplar_forms",
        about="compares with texts that a model wrote to be the worst, the best, and between",
        calls="judgesmith.programs.exemplar_steps:exemplar_calls",
        efforts="judgesmith.programs.exemplar_steps:exemplar_efforts",
        roles=(("writer", ("end", "between")),),
    ),
    Family(
        name="g-eval",
        judge="judgesmith.programs.g_eval:GEval",
        protocol="judgesmith.signatures.g_eval:GEvalProtocol",
        steps="judgesmith.programs.g_eval_steps:g_eval_steps",
        forms="judgesmith.programs.g_eval_steps:g_eval_forms",
        about="scores by evaluation steps that a model writes once, weighed by probabilities",
    ),
    Family(
        name="explain-eval",
        judge="judgesmith.programs.explain_eval:ExplainEval",
        protocol="judgesmith.signatures.explain_eval:ExplainEvalProtocol",
        steps="judgesmith.programs.explain_eval_steps:explain_eval_steps",
        forms="judgesmith.programs.explain_eval_steps:explain_eval_forms",
        about="analyses and rates each criterion, or the whole, in words and a score",
    ),
    Family(
        name="gptscore",
        judge="judgesmith.programs.gptscore:GPTScore",
        protocol="judgesmith.signatures.gptscore:GPTScoreProtocol",
        steps="judgesmith.programs.gptscore_steps:gptscore_steps",
        forms="judgesmith.programs.gptscore_steps:gptscore_forms",
        about="scores by how likely the model finds the response, token by token",
        scores_texts=True,
    ),
    Family(
        name="reference",
        judge="judgesmith.programs.reference:Reference",
        protocol="judgesmith.signatures.reference:ReferenceProtocol",
        steps="judgesmith.programs.reference_steps:reference_steps",
        forms="judgesmith.programs.reference_steps:reference_forms",
        about="measures likeness to the item's references, by ROUGE, BLEU, chrF, METEOR, BERTScore",
        reads_references=True,
        calls="judgesmith.programs.reference_steps:no_calls",
    ),
    Family(
        name="pairs",
        judge="judgesmith.programs.pairs:Pairs",
        protocol="judgesmith.signatures.pairs:PairsProtocol",
        steps="judgesmith.programs.pair_steps:lone_steps",
        forms="judgesmith.programs.pair_steps:pair_forms",
        about="ranks the responses to a source by comparing two at a time, in both orders",
        calls="judgesmith.programs.pair_steps:usual_calls",
        efforts="judgesmith.programs.pair_steps:pair_efforts",
        source_steps="judgesmith.programs.pair_steps:source_steps",
        most_calls="judgesmith.programs.pair_steps:most_calls",
    ),
    Family(
        name="prometheus",
        judge="judgesmith.programs.formed:Formed",
        protocol="judgesmith.signatures.formed:PrometheusProtocol",
        steps="judgesmith.programs.form_steps:form_steps",
        forms="judgesmith.programs.form_steps:form_questions",
        about="asks a Prometheus model in its own form, for feedback and a score from 1 to 5",
    ),
    Family(
        name="checklist",
        judge="judgesmith.programs.checklist:Checklist",
        protocol="judgesmith.signatures.checklist:ChecklistProtocol",
        steps="judgesmith.programs.checklist_steps:checklist_steps",
        forms="judgesmith.programs.checklist_steps:checklist_forms",
        about="asks yes-or-no questions about each criterion and takes the share of yes",
    ),
    Family(
        name="themis",
        judge="judgesmith.programs.formed:Formed",
        protocol="judgesmith.signatures.formed:ThemisProtocol",
        steps="judgesmith.programs.form_steps:form_steps",
        forms="judgesmith.programs.form_steps:form_questions",
        about="asks a Themis model in its own form, for an analysis and a rating from 1 to 5",
    ),
    Family(
        name="auto-j",
        judge="judgesmith.programs.formed:Formed",
        protocol="judgesmith.signatures.formed:AutoJProtocol",
        steps="judgesmith.programs.form_steps:form_steps",
        forms="judgesmith.programs.form_steps:form_questions",
        about="asks an Auto-J model in its own form, for a critique and a rating from 1 to 10",
    ),
    Family(
        name="annotator",
        judge="judgesmith.programs.annotator:AnnotatorJudge",
        protocol="judgesmith.signatures.annotating:AnnotatorProtocol",
        steps="judgesmith.programs.annotator_steps:annotator_steps",
        forms="judgesmith.programs.annotator_steps:annotator_questions",
        about="points at errors with their place, reason and severity, then gives a score",
    ),
)
"""All of them, in the order in which they are listed."""
