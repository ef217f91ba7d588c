from judgesmith.studio.project import Project
from judgesmith.studio.store import Store, StoredRating

__all__ = ["Project", "Store", "StoredRating"]
