"""The names and signs of mathematics that are read, LaTeX and plain, each with its one spelling. Cuts no text."""

FUNCTIONS = frozenset(
    {"sin", "cos", "tan", "cot", "sec", "csc", "sinh", "cosh", "tanh", "coth", "sech", "csch"}
    | {"arcsin", "arccos", "arctan", "arccot", "arcsec", "arccsc", "arsinh", "arcosh", "artanh"}
    | {"exp", "ln", "log", "lg", "log2", "log10", "sqrt", "cbrt", "root", "abs", "floor", "ceil", "sign"}
    | {"factorial", "binomial", "gcd", "lcm", "max", "min", "Re", "Im", "arg", "conjugate"}
)
GREEK = frozenset(
    {"alpha", "beta", "gamma", "delta", "epsilon", "varepsilon", "zeta", "eta", "theta", "vartheta", "iota", "kappa"}
    | {"lambda", "mu", "nu", "xi", "rho", "sigma", "tau", "upsilon", "phi", "varphi", "chi", "psi", "omega"}
    | {"Gamma", "Delta", "Theta", "Lambda", "Xi", "Sigma", "Phi", "Psi", "Omega", "ell", "hbar"}
)
SYNONYMS = {
    **{f"a{name}": f"arc{name}" for name in ("sin", "cos", "tan", "cot", "sec", "csc")},
    **{f"{a}{name}": f"ar{name}" for a in ("a", "arc") for name in ("sinh", "cosh", "tanh")},
    **{"tg": "tan", "ctg": "cot", "cosec": "csc", "ceiling": "ceil", "sgn": "sign", "binom": "binomial"},
    **{"re": "Re", "im": "Im", "Sqrt": "sqrt", "Log": "log", "Ln": "ln", "Abs": "abs", "Max": "max", "Min": "min"},
    **{"inf": "oo", "infty": "oo", "infinity": "oo", "Infinity": "oo", "Pi": "pi", "PI": "pi"},
    **{"degrees": "deg", "degree": "deg", "union": "cup", "Union": "cup", "Reals": "RR", "reals": "RR"},
    **{"varnothing": "emptyset", "EmptySet": "emptyset"},
}
OTHERS = frozenset(["pi", "oo", "deg", "or", "and", "cup", "emptyset", "in", "RR", "Matrix"])
WORDS = sorted((*FUNCTIONS, *GREEK, *SYNONYMS, *OTHERS), key=len, reverse=True)
"""Longest first, so that `sinh` is found before `sin`."""

COMMANDS = {
    **dict.fromkeys(("dfrac", "tfrac", "cfrac"), "frac"),
    **dict.fromkeys(("dbinom", "tbinom"), "binom"),
    **dict.fromkeys(("leq", "leqslant", "leqq"), "le"),
    **dict.fromkeys(("geq", "geqslant", "geqq"), "ge"),
    **dict.fromkeys(("simeq", "sim", "cong", "thickapprox"), "approx"),
    **dict.fromkeys(("land", "wedge"), "and"),
    **dict.fromkeys(("lor", "vee"), "or"),
    **dict.fromkeys(("lvert", "rvert", "vert", "mid"), "|"),
    **dict.fromkeys(("cdot", "times", "ast"), "*"),
    **{"neq": "ne", "backslash": "setminus", "overline": "bar", "circ": "deg", "div": "/", "lt": "<", "gt": ">"},
    **{"lbrace": "{", "rbrace": "}", "lbrack": "[", "rbrack": "]", "colon": ":", "bigcup": "cup"},
}
"""LaTeX commands by another name for the same thing."""

OPERATORS = {"<=": "le", ">=": "ge", "!=": "ne", "==": "=", "**": "^", "\\|": "|", "\\%": "%", "\\&": "&"}

_SPELLED = {
    **{"π": r"\pi ", "∞": r"\infty ", "√": r"\sqrt ", "∛": r"\sqrt[3]", "°": r"\deg ", "±": r"\pm ", "∓": r"\mp "},
    **{"≤": r"\le ", "⩽": r"\le ", "≥": r"\ge ", "⩾": r"\ge ", "≠": r"\ne ", "≈": r"\approx ", "∪": r"\cup "},
    **{"∩": r"\cap ", "∖": r"\setminus ", "∈": r"\in ", "∅": r"\emptyset ", "ℝ": r"\RR ", "⌊": r"\lfloor "},
    **{"⌋": r"\rfloor ", "⌈": r"\lceil ", "⌉": r"\rceil ", "⟨": r"\langle ", "⟩": r"\rangle ", "º": r"\deg "},
}
_LETTERS = {
    **{"α": "alpha", "β": "beta", "γ": "gamma", "δ": "delta", "ε": "epsilon", "ζ": "zeta", "η": "eta", "θ": "theta"},
    **{"ι": "iota", "κ": "kappa", "λ": "lambda", "μ": "mu", "ν": "nu", "ξ": "xi", "ρ": "rho", "σ": "sigma", "τ": "tau"},
    **{"υ": "upsilon", "φ": "phi", "ϕ": "phi", "χ": "chi", "ψ": "psi", "ω": "omega", "Γ": "Gamma", "Δ": "Delta"},
    **{"Θ": "Theta", "Λ": "Lambda", "Ξ": "Xi", "Σ": "Sigma", "Φ": "Phi", "Ψ": "Psi", "Ω": "Omega"},
}
_PARTS = dict(zip("½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", (12, 13, 23, 14, 34, 15, 25, 35, 45, 16, 56, 18, 38, 58, 78), strict=True))
TABLE = str.maketrans(
    {
        **dict.fromkeys("\u2212\u2013\u2010\u2011\uff0d", "-"),
        **dict.fromkeys("\u00a0\u2002\u2003\u2005\u2006\u2007\u2008\u2009\u200a\u202f\u205f\u3000\n\r\t", " "),
        **dict.fromkeys("×·⋅∙∗＊", "*"),
        **dict.fromkeys("÷⁄∕／", "/"),
        **{chr(0xFF10 + digit): str(digit) for digit in range(10)},
        **dict(zip("：，．（）［］｛｝＋＝＜＞＾｜；", ":,.()[]{}+=<>^|;", strict=True)),
        **_SPELLED,
        **{sign: f"\\{name} " for sign, name in _LETTERS.items()},
        **{sign: rf"\frac{{{parts // 10}}}{{{parts % 10}}}" for sign, parts in _PARTS.items()},
    }
)
"""One spelling for signs that look alike, letters as commands."""
RAISED = str.maketrans("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻ⁿ", "0123456789+-n")
LOWERED = str.maketrans("₀₁₂₃₄₅₆₇₈₉", "0123456789")
