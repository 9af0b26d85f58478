"""The part of the core's face that the shelf of models answers."""

from server.core.default_model import CurrentModel
from server.face.models import (
    Fit,
    FoundFolder,
    HubListing,
    HubModel,
    Machine,
    ModelDetail,
    Setup,
    Suggestion,
)
from server.models.service import ModelShelf


class Shelved:
    shelf: ModelShelf
    _current: CurrentModel

    async def check_engine(self) -> None:
        """After sleep: are the graphics cards still there, and does the model still answer?"""
        if self.shelf.surveyor.machine().engine_uses_gpu:
            await self.shelf.survey_machine()
        await self._current.check()

    async def engine_build(self) -> str:
        return await self.shelf.surveyor.engine_build()

    async def search_models(self, text: str) -> list[HubModel]:
        return await self.shelf.search_models(text)

    async def list_repository(self, repo: str) -> HubListing:
        return await self.shelf.list_repository(repo)

    async def download_model(self, repo: str, file: str) -> str:
        return await self.shelf.download_model(repo, file)

    async def pause_download(self, download_id: str) -> None:
        await self.shelf.pause_download(download_id)

    async def resume_download(self, download_id: str) -> None:
        await self.shelf.resume_download(download_id)

    async def cancel_download(self, download_id: str) -> None:
        await self.shelf.cancel_download(download_id)

    async def import_model(self, path: str) -> str:
        return await self.shelf.import_model(path)

    async def delete_model(self, name: str) -> int:
        return await self.shelf.delete_model(name)

    async def describe_model(self, name: str) -> ModelDetail:
        return await self.shelf.describe_model(name)

    async def estimate_model(self, name: str, setup: Setup) -> Fit:
        return await self.shelf.estimate_model(name, setup)

    async def suggest_models(self) -> list[Suggestion]:
        return await self.shelf.suggest_models()

    async def survey_machine(self) -> Machine:
        return await self.shelf.survey_machine()

    async def find_model_folders(self) -> list[FoundFolder]:
        return await self.shelf.find_model_folders()

    async def set_hub_token(self, token: str) -> None:
        await self.shelf.set_hub_token(token)
