"""The judge in this folder as a DSPy module: from judge import judge.

It needs judgesmith and DSPy. Give it a model as any other DSPy program.
"""

from pathlib import Path

from judgesmith.programs import load_program

judge = load_program(Path(__file__).with_name("program.json"))
