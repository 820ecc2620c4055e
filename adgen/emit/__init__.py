"""From IR to the text of a target language."""

from adgen.emit.c import Emitted, Site, emit
from adgen.emit.callback import Callback, callback
from adgen.emit.interface import Interface, Parameter
from adgen.emit.memory import plan_memory

__all__ = ["Callback", "Emitted", "Interface", "Parameter", "Site", "callback", "emit", "plan_memory"]
