"""How a judgement is made: judges as DSPy modules, and the models under them."""

from judgesmith.programs.active_critic import ActiveCritic
from judgesmith.programs.adapter import FencedAdapter
from judgesmith.programs.judge import Judge
from judgesmith.programs.running import judge_each, judge_items
from judgesmith.programs.templates import Template

__all__ = ["ActiveCritic", "FencedAdapter", "Judge", "Template", "judge_each", "judge_items"]
