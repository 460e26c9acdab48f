"""The calculator tool: reads arithmetic as people write it and answers exactly where that is possible."""

from turngate.tools.calculator.answer import Answer, calculate
from turngate.tools.calculator.tool import Calculator, calculator

__all__ = ["Answer", "Calculator", "calculate", "calculator"]
