"""From IR to the text of a target language."""

from adgen.emit.c import Emitted, Site, emit
from adgen.emit.interface import Interface, Parameter

__all__ = ["Emitted", "Interface", "Parameter", "Site", "emit"]
