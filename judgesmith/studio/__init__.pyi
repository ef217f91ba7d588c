from judgesmith.studio.compilation import Choices, Compilation
from judgesmith.studio.project import Exported, Project
from judgesmith.studio.store import Store, StoredRating

__all__ = ["Choices", "Compilation", "Exported", "Project", "Store", "StoredRating"]
