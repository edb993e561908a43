import { describe, expect, test } from 'vitest'
import { earlierEndOf, warningWords } from '../../../../src/messages/warnings.ts'
import { moveChange } from '../../../../src/moves/move-change.ts'
import { createCatalog } from '../../../../src/requests/catalog.ts'
import { minutes, moveFacts, requestedAt, requestFor } from '../../request-for-test.ts'

const catalog = createCatalog([moveChange({} as never)])

/** What approvers see of an earlier request that ended 12 minutes before this one. */
function shown(earlier: Parameters<typeof requestFor>[0], names: Record<string, string> = {}): string[] {
  const ended = requestFor({ facts: moveFacts, endedAt: requestedAt - 12 * minutes, ...earlier })
  const finding = earlierEndOf(ended, requestedAt, new Map(Object.entries(names)))
  const request = { warnings: finding ? [finding] : [], personNames: { U0BEN00001: '@Ben' } }
  const profileOf = (userId: string) => `https://nimbus.slack.com/team/${userId}`
  return warningWords(request, catalog.changeIfKnown('ip.move'), catalog.titleOf, { profileOf }).checks.map(({ text }) => text)
}

const refused = {
  code: 'api-refused',
  operation: 'elastic-ips.move',
  status: 409,
  codes: [],
  detail: 'Server is locked',
  effect: 'not-changed',
}

describe('a request that repeats another one warns approvers', () => {
  test('who rejected that one and why, without a mention', () => {
    const decision = { by: 'U0BEN00001', rule: 'changes', via: 'U0BEN00001', reason: 'Wait for the *sale*.' }
    expect(shown({ state: 'rejected', decision })).toMatchInlineSnapshot(`
      [
        "<https://nimbus.slack.com/team/U0BEN00001|@Ben> rejected this 12 minutes before this request: \`Wait for the *sale*.\`",
      ]
    `)
    expect(shown({ state: 'rejected', decision: { ...decision, reason: undefined } })).toMatchInlineSnapshot(`
      [
        "<https://nimbus.slack.com/team/U0BEN00001|@Ben> rejected this 12 minutes before this request.",
      ]
    `)
    expect(shown({ state: 'rejected', decision: { rule: 'changes', via: 'S0ONCALL01' } })).toMatchInlineSnapshot(`
      [
        "This was rejected 12 minutes before this request.",
      ]
    `)
  })

  test('that the last try failed, and why', () => {
    expect(shown({ state: 'failed', causes: [refused] })).toMatchInlineSnapshot(`
      [
        "The last try, 12 minutes before this request, failed. The account API is busy with another change of this resource (409). It says: “Server is locked”. Try again when that change has ended. Nothing was changed.",
      ]
    `)
    expect(shown({ state: 'not-started' })).toMatchInlineSnapshot(`
      [
        "The last try, 12 minutes before this request, wasn't started.",
      ]
    `)
  })

  test('why each address failed that it tries again, up to five', () => {
    const items = Array.from({ length: 7 }, (_, index) => ({ id: `eip_${index}`, state: 'failed' as const, causes: [refused] }))
    const names = Object.fromEntries(items.map(({ id }, index) => [id, `203.0.113.${index}`]))
    const [words = ''] = shown({ state: 'failed', items }, names)

    expect(words.match(/203\.0\.113\.\d wasn't changed/g)).toHaveLength(5)
    expect(shown({ state: 'failed', items }, { eip_2: '203.0.113.2' })).toMatchInlineSnapshot(`
      [
        "The last try, 12 minutes before this request, failed. The account API is busy with another change of this resource (409). It says: “Server is locked”. Try again when that change has ended. 203.0.113.2 wasn't changed.",
      ]
    `)
  })

  test('of nothing if it expired, was withdrawn or is canceled, because that says nothing about the change', () => {
    for (const state of ['expired', 'withdrawn', 'voided'] as const) expect(shown({ state })).toEqual([])
  })
})
