import { expect } from 'vitest'
import type { Preflight } from '../../src/domain/change.ts'
import { UserError } from '../../src/domain/errors.ts'
import { moveChange } from '../../src/features/moves/move-change.ts'
import { type MoveFacts, moveFindings, moveWords } from '../../src/features/moves/move-checks.ts'
import { accountOf, inputOf } from './account.ts'
import { type MoveObjects, names, unknownMembersOf, visibleReasons } from './visible.ts'

export type Outcome = { refused: string } | { passed: Preflight<MoveFacts> }

/** Runs the whole preflight check. It reads these objects with the client's own code, but only those that it needs. */
export async function preflight(objects: MoveObjects, unavailable: string[] = []): Promise<Outcome> {
  const servers = [objects.target, ...(objects.assigned && objects.assigned !== objects.target ? [objects.assigned] : [])]
  const change = moveChange({ account: accountOf({ elasticIps: [objects.elasticIp], servers, unavailable }) })
  try {
    return { passed: await change.preflight(inputOf(objects), {}) }
  } catch (error) {
    if (error instanceof UserError) return { refused: error.message }
    throw error
  }
}

const phrases = { status: /active/, server: /unassigned/, project: /project/, site: /site/ }

/** Expects a refusal exactly if a reason is visible, with its values. Otherwise expects that exactly the unknown members are listed. */
export function expectVisible(objects: MoveObjects, outcome: Outcome): void {
  const reasons = visibleReasons(objects)
  if ('refused' in outcome) {
    const isNamed = reasons.some(({ values }) => values.some((pair) => pair.every((value) => names(outcome.refused, value))))
    expect(isNamed, JSON.stringify({ refused: outcome.refused, reasons })).toBe(true)
    return
  }
  const { incomplete, warnings = [] } = outcome.passed
  // That the account shows no server is a warning. Everything else that it does not show is not checked.
  const noServer = warnings.filter(({ code }) => code === 'server-not-shown')
  const unchecked = [...outcome.passed.unchecked, ...noServer].map((finding) => moveWords(moveFindings.schema.parse(finding)).why)
  const unknown = unknownMembersOf(objects)
  expect({ reasons, unchecked, incomplete }).toEqual({ reasons: [], unchecked: unknown.map(() => expect.any(String)), incomplete: false })
  for (const what of unknown) expect(unchecked.filter((phrase) => phrases[what].test(phrase))).not.toEqual([])
}

/** Summarizes an outcome without ids and names. */
export function summaryOf(objects: MoveObjects, outcome: Outcome) {
  return 'refused' in outcome ? visibleReasons(objects).map(({ is }) => is) : { passed: unknownMembersOf(objects) }
}
