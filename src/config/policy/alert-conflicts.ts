import type { AlertRoute } from '../../domain/policy/alert-route.ts'
import { rulesOfKind } from '../../domain/policy/find-rules.ts'
import type { Policy } from '../../domain/policy/policy.ts'
import { quote } from '../notation.ts'
import type { Conflict } from './conflicts.ts'

/** Finds the entries that conflict with other entries or with the rules. */
export function alertConflicts(policy: Policy): Conflict[] {
  const routes = policy.alerts ?? []
  return routes.flatMap((route, index) =>
    [nameTaken(route, routes.slice(0, index)), neverMatches(route, routes.slice(0, index)), neverAllowed(route, policy)]
      .filter((conflict) => conflict !== undefined)
      .map(({ path, message }) => ({ path: ['alerts', index, ...path], message })),
  )
}

function nameTaken({ name }: AlertRoute, above: AlertRoute[]): Conflict | undefined {
  if (!above.some((other) => other.name === name)) return undefined
  return { path: ['name'], message: `must be unique, and an entry above is called ${quote(name, 60)}: choose another` }
}

/** Reports an entry whose alerts all have the labels of an entry above, which decides then. */
function neverMatches({ match }: AlertRoute, above: AlertRoute[]): Conflict | undefined {
  const by = above.find((other) => [...other.match].every(([label, text]) => match.get(label) === text))
  if (!by) return undefined
  return {
    path: [],
    message: `can never match: ${quote(by.name, 60)} above matches every alert that it is for. Move it up, or remove it`,
  }
}

function neverAllowed({ channelId }: AlertRoute, policy: Policy): Conflict | undefined {
  const kinds = [...(policy.bundles?.keys() ?? [])]
  if (kinds.some((kind) => rulesOfKind(policy, { kind, channelId, hasProject: true }).some(({ alerts }) => alerts))) return undefined
  return { path: ['channel'], message: `must be one where a rule lets alerts request ${kinds.join(' or ')}: add alerts to its request` }
}
