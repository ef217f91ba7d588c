from judgesmith.studio.compilation import Choices, Compilation
from judgesmith.studio.project import ExportedRatings, Project
from judgesmith.studio.store import Store, StoredRating

__all__ = ["Choices", "Compilation", "ExportedRatings", "Project", "Store", "StoredRating"]
