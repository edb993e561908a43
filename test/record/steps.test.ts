import { readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isOpen, type RequestState, requestStates } from '../../src/domain/request.ts'
import { type CardButton, cardButtons } from '../../src/messages/button-ids.ts'
import { cardActions } from '../../src/messages/request-message.ts'
import { type ReportName, reportNames, type Stamp, type StepName, stateAfter, stepOf, steps } from '../../src/record/steps.ts'
import { requestFor } from '../given/request.ts'
import { cardViewFor } from '../messages/card-view-for-test.ts'

const stepNames = Object.keys(steps) as StepName[]

function stepsFrom(state: RequestState): StepName[] {
  return stepNames.filter((name) => stepOf(name).from.includes(state))
}

/** Every state that steps lead to from this one, itself included. */
function reachableFrom(state: RequestState, found = new Set<RequestState>()): Set<RequestState> {
  if (found.has(state)) return found
  found.add(state)
  for (const name of stepsFrom(state)) reachableFrom(stateAfter(name, state), found)
  return found
}

interface Moment {
  name: StepName
  before: RequestState
  after: RequestState
}

/** A life of a request: random steps, each possible in the state before it. */
const aLife: fc.Arbitrary<Moment[]> = fc.array(fc.nat(), { maxLength: 30 }).map((choices) => {
  const life: Moment[] = []
  let before: RequestState = 'waiting'
  for (const choice of choices) {
    const possible = stepsFrom(before)
    const name = possible[choice % possible.length]
    if (name === undefined) break
    const after = stateAfter(name, before)
    life.push({ name, before, after })
    before = after
  }
  return life
})

const namesIn = (life: Moment[], ...wanted: StepName[]) => life.filter(({ name }) => wanted.includes(name))
const approvals = ['approve', 'exempt', 'break-glass'] as const satisfies StepName[]
const writes = ['send', 'issue'] as const satisfies StepName[]

describe('a life of a request', () => {
  /** What leads from one state to another. */
  const moves = (life: Moment[]) => life.filter(({ name }) => stepOf(name).to !== 'same')

  /** Checks 2,000 random lives. */
  function always(holds: (life: Moment[]) => void) {
    fc.assert(fc.property(aLife, holds), { numRuns: 2_000 })
  }

  test('leaves an ended state only if tracking starts again', () => {
    always((life) => {
      for (const { name, before } of moves(life)) if (!isOpen(before)) expect(`${name} from ${before}`).toBe('track-again from untracked')
    })
  })

  test('has at most one approval, and after it at most one write that was not certainly refused because of the limit', () => {
    always((life) => {
      const [approved, sent] = [namesIn(life, ...approvals), namesIn(life, ...writes)]
      expect(approved.length).toBeLessThanOrEqual(1)
      expect(sent.length - namesIn(life, 'limit').length).toBeLessThanOrEqual(approved.length)
      if (approved[0] && sent[0]) expect(life.indexOf(approved[0])).toBeLessThan(life.indexOf(sent[0]))
    })
  })

  test('never returns to the state waiting, and to approved only if the write was certainly not carried out', () => {
    always((life) => {
      for (const { name, before, after } of life) {
        if (before !== 'waiting') expect(after).not.toBe('waiting')
        if (before !== 'waiting' && before !== 'approved' && name !== 'limit') expect(after).not.toBe('approved')
      }
    })
  })

  test('has a time stamp for each state that needs one', () => {
    const stampOf: Partial<Record<RequestState, Stamp>> = { approved: 'decidedAt', rejected: 'decidedAt', starting: 'sentAt' }
    always((life) => {
      const stamped = new Set<Stamp>()
      for (const { name, before, after } of life) {
        for (const stamp of stepOf(name).stamps ?? []) stamped.add(stamp)
        const wanted = stampOf[after]
        if (wanted) expect(stamped, `${name} from ${before}`).toContain(wanted)
        // The tracking of a write whose answer is not known can end, and go on, if its record could not be verified for a while.
        if (after === 'tracking' && before !== 'tracking' && name !== 'track-again')
          expect(stamped, `${name} from ${before}`).toContain('acceptedAt')
        if (before !== after && !isOpen(after)) expect(stepOf(name).stamps, `${name} from ${before}`).toContain('endedAt')
      }
    })
  })

  test('reports every end', () => {
    const reports = (name: StepName, ...wanted: ReportName[]) => stepOf(name).reports?.some((report) => wanted.includes(report)) === true
    always((life) => {
      for (const { name, before, after } of moves(life)) {
        // A withdrawal has no report, because its requester made it. Only the card shows it.
        if (before !== after && !isOpen(after) && after !== 'withdrawn')
          expect(reports(name, 'ended', 'stopped'), `${name} from ${before}`).toBe(true)
      }
    })
  })
})

describe('every state', () => {
  test.each(requestStates)('can be reached by a new request: %s', (state) => {
    expect(reachableFrom('waiting')).toContain(state)
  })

  test.each(requestStates)('has a way to an end: %s', (state) => {
    expect([...reachableFrom(state)].filter((other) => !isOpen(other))).not.toEqual([])
  })

  /** The steps that people take, and their buttons. `only`: for changes that are handed over to the requester, or for all others. */
  const buttonOf: Partial<Record<StepName, { button: CardButton; only?: 'handed over' | 'carried out' }>> = {
    approve: { button: 'approve' },
    'count-approval': { button: 'approve' },
    'break-glass': { button: 'approve' },
    reject: { button: 'reject' },
    withdraw: { button: 'withdraw' },
    'start-now': { button: 'startNow', only: 'carried out' },
    issue: { button: 'handOver', only: 'handed over' },
    'stop-tracking': { button: 'stopTracking' },
    'track-again': { button: 'trackAgain', only: 'carried out' },
  }

  /** The buttons of an ended request that make another request, or show more of it. */
  const buttonsForMore = (state: RequestState): CardButton[] => {
    if (isOpen(state)) return ['details']
    if (state === 'untracked') return ['details']
    return [state === 'done' ? 'reverse' : 'again', 'details']
  }

  test('gets its buttons from the steps that only people take', () => {
    const byPeople = stepNames.filter((name) => stepOf(name).takers.every((taker) => !['worker', 'web', 'alert'].includes(taker)))
    expect(Object.keys(buttonOf).toSorted()).toEqual(byPeople.toSorted())
  })

  test.each(requestStates)('offers the buttons of the steps that people can take from it, and no others: %s', (state) => {
    for (const sort of ['handed over', 'carried out'] as const) {
      const ofSteps = stepsFrom(state).flatMap((name) => {
        const { button, only = sort } = buttonOf[name] ?? {}
        return button && only === sort ? [button] : []
      })
      const shown = cardActions(
        cardViewFor({
          request: requestFor({
            state,
            waits: sort === 'carried out' ? { for: 'start', until: 1, mayStartNow: true } : undefined,
            approvals: [{ by: 'U0BEN00001', via: 'U0BEN00001', at: 1 }],
            slowAt: 1,
          }),
          handover: sort === 'handed over' ? { label: 'Create key' } : undefined,
          reverseLabel: 'Move back',
        }),
      ).map(({ action_id: id }) => id)

      const expected = new Set([...ofSteps, ...buttonsForMore(state)].map((button): string => cardButtons[button]))
      expect(new Set(shown), sort).toEqual(expected)
    }
  })
})

describe('every step', () => {
  test.each(stepNames)('says from where and who takes it: %s', (name) => {
    const { from, takers, reports = [], mayReport = [] } = stepOf(name)
    expect(from).not.toEqual([])
    expect(takers).not.toEqual([])
    for (const each of [from, takers, reports, mayReport]) expect(new Set<string>(each).size).toBe(each.length)
    for (const report of [...reports, ...mayReport]) expect(reportNames).toContain(report)
  })

  test('by which a person approves, rejects or creates is possible only before the deadline', () => {
    const decides = stepNames.filter((name) => {
      const { takers, to } = stepOf(name)
      return !takers.includes('worker') && (to === 'approved' || to === 'rejected' || to === 'starting')
    })
    expect(decides.toSorted()).toEqual(['approve', 'break-glass', 'issue', 'reject'])
    for (const name of decides) expect(stepOf(name).beforeDeadline, name).toBe(true)
  })

  test('that keeps the state is possible only while the record is unchanged', () => {
    for (const name of stepNames) if (stepOf(name).to === 'same') expect(stepOf(name).ifUnchanged, name).toBe(true)
  })

  test('that reports a resolved alert is possible unless the change was never approved', () => {
    const silent = requestStates.filter((state) => !stepOf('note-resolved').from.includes(state))
    expect(silent).toEqual(['waiting', 'rejected', 'withdrawn', 'expired'])
  })

  test('owes messages of the thread, and no message is left without a step', () => {
    const owed = stepNames.flatMap((name) => [...(stepOf(name).reports ?? []), ...(stepOf(name).mayReport ?? [])])
    expect(new Set([...owed, 'outdated'])).toEqual(new Set(reportNames))
  })
})

test('only the script of a step changes the state of a record', () => {
  const source = resolve(import.meta.dirname, '../../src')
  const all = readdirSync(source, { recursive: true, encoding: 'utf8' }).map((file) => ({ file, path: join(source, file) }))
  const filesWith = (kind: string, pattern: RegExp) =>
    all.flatMap(({ file, path }) => (file.endsWith(kind) && pattern.test(readFileSync(path, 'utf8')) ? [file] : []))
  // Other scripts only read the state, or create the record.
  expect(filesWith('.lua', /\{ 'state'|'HSET', \S+, 'state'/)).toEqual([join('record', 'lua', 'take-step.lua')])
  expect(filesWith('.ts', /'take-step'/).toSorted()).toEqual(['due.ts', 'store.ts'].map((file) => join('record', file)))
})
