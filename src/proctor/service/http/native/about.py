"""Languages, isolation and load of an engine, as the native API reports them."""

from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.native.schema import Capabilities, GuaranteeJson, LanguageJson
from proctor.version import __version__


def languages(engine: Engine) -> list[LanguageJson]:
    """Return the installed languages. Starts their tools: not for an event loop."""
    return [
        LanguageJson(each.language.id, each.language.name, each.language.aliases, each.version)
        for each in engine.languages()
    ]


async def capabilities(engine: Engine, context: RequestContext) -> Capabilities:
    """Return the isolation in force with its guarantees, and the load of the engine."""
    isolation = await engine.isolation(context)
    return Capabilities(
        __version__,
        isolation.level,
        {
            name: GuaranteeJson(each.strength, each.how, each.gap)
            for name, each in isolation.guarantees.items()
        },
        engine.admission.places,
        engine.admission.waiting,
        engine.admission.running,
        engine.package_sets.names,
    )
