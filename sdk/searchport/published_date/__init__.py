"""Any vendor's date as one of two ISO shapes, or as a bound, or as nothing; never a guess.

`normalize` reads what vendors write, `not_before` bounds what is too vague to read. A provider whose vendor documents a
fixed format converts with `from_format` or `from_epoch`; one that is given a page's metatags picks with `first_stated`.
"""

from searchport.published_date.bounds import not_before
from searchport.published_date.formats import from_epoch, from_format
from searchport.published_date.metatags import PUBLISHED_TAGS, first_stated
from searchport.published_date.shapes import normalize

__all__ = ["PUBLISHED_TAGS", "first_stated", "from_epoch", "from_format", "normalize", "not_before"]
