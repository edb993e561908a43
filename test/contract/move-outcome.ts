import { expect } from 'vitest'
import type { Preflight } from '../../src/domain/change.ts'
import { checkMove, type MoveFacts } from '../../src/domain/elastic-ip-move.ts'
import { MoveFinding, moveWords } from '../../src/domain/elastic-ip-move-findings.ts'
import { UserError } from '../../src/domain/errors.ts'
import { createMoveChange } from '../../src/features/move-elastic-ip/change.ts'
import { accountOf } from './account.ts'
import { inputOf } from './move-objects.ts'
import { type MoveObjects, names, reasonsThatCanBeSeen, whatCannotBeSeen } from './visible.ts'

export type Outcome = { refused: string } | { passed: Preflight<MoveFacts> }

/** What the whole preflight check answers: it reads these objects by the client's own code, as many of them as it needs. */
export async function preflight(objects: MoveObjects, away: string[] = []): Promise<Outcome> {
  const servers = [objects.target, ...(objects.assigned && objects.assigned !== objects.target ? [objects.assigned] : [])]
  const change = createMoveChange(accountOf({ elasticIps: [objects.elasticIp], servers, away }))
  return outcomeOf(() => change.preflight(inputOf(objects), {}))
}

/** What the rule answers to all three objects, whether or not it needs them. */
export async function check(objects: MoveObjects): Promise<Outcome> {
  const input = inputOf(objects)
  const { assigned: other, ...wires } = objects
  const account = accountOf({ elasticIps: [wires.elasticIp], servers: [wires.target] })
  const elasticIp = await account.elasticIps.get(input.elasticIpId)
  const target = await account.servers.get(input.serverId)
  const assigned = other && (await accountOf({ servers: [other] }).servers.get(String(other.id)))
  return outcomeOf(async () => checkMove(input, { elasticIp, target, assigned }))
}

async function outcomeOf(work: () => Promise<Preflight<MoveFacts>>): Promise<Outcome> {
  try {
    return { passed: await work() }
  } catch (error) {
    if (error instanceof UserError) return { refused: error.message }
    throw error
  }
}

const phrases = { status: /active/, server: /which server/, project: /project/, site: /site/ }

/** Refused exactly where a person sees why, with the values that show it; and what nobody can see is listed, and nothing else. */
export function expectVisible(objects: MoveObjects, outcome: Outcome): void {
  const reasons = reasonsThatCanBeSeen(objects)
  if ('refused' in outcome) {
    const told = reasons.some(({ values }) => values.some((pair) => pair.every((value) => names(outcome.refused, value))))
    expect(told, JSON.stringify({ refused: outcome.refused, reasons })).toBe(true)
    return
  }
  const { incomplete } = outcome.passed
  const unchecked = outcome.passed.unchecked.map((finding) => moveWords(MoveFinding.parse(finding)).why)
  const unseen = whatCannotBeSeen(objects)
  expect({ reasons, unchecked, incomplete }).toEqual({ reasons: [], unchecked: unseen.map(() => expect.any(String)), incomplete: false })
  for (const what of unseen) expect(unchecked.filter((phrase) => phrases[what].test(phrase))).not.toEqual([])
}

/** What of an outcome does not depend on how things are called. */
export function sortOf(objects: MoveObjects, outcome: Outcome) {
  return 'refused' in outcome ? reasonsThatCanBeSeen(objects).map(({ is }) => is) : { passed: whatCannotBeSeen(objects) }
}
