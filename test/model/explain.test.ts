import { expect, test } from 'vitest'
import { requestFor } from '../given/request.ts'
import { explain } from './explain.ts'
import type { Answer, ModelRequest } from './request-model.ts'
import { ids, members, type Name } from './staff.ts'
import { fits } from './story.ts'

const move = { id: 'r1', kind: 'ip.move', resource: 'r1', by: 'ada', isOver: false, mayBeLost: false, isTakenOver: false } as const

/** Whether the model can explain these answers to simultaneous approvals of a move, and the record that followed. */
function isExplained(before: Name[], oncall: Name[], answers: Partial<Record<Name, Answer[]>>, after: Name[], decidedBy?: Name): boolean {
  const request: ModelRequest = { ...move, state: 'waiting', approvals: before, decidedBy: undefined }
  const clicks = (Object.keys(answers) as Name[]).map((person) => ({ person, does: 'approve' }) as const)
  const by = (name: Name) => ({ by: ids[name], at: 1, via: 'S0ONCALL01' })
  const decision = decidedBy && by(decidedBy)
  const record = requestFor({ state: decidedBy ? 'approved' : 'waiting', approvals: after.map(by), ...(decision && { decision }) })
  return explain(request, clicks, { ...members, oncall }, { answers, fits: (now) => fits(record, now) }) !== undefined
}

test.each<[defect: string, right: Parameters<typeof isExplained>, wrong: Parameters<typeof isExplained>]>([
  [
    'lets anybody approve',
    [[], ['ben', 'chiara'], { ben: ['counted'] }, ['ben']],
    [[], ['ben', 'chiara'], { jana: ['counted'] }, ['jana']],
  ],
  [
    'overwrites what was approved at the same moment',
    [[], ['ben', 'chiara', 'finn'], { ben: ['counted'], chiara: [] }, ['ben', 'chiara'], 'chiara'],
    [[], ['ben', 'chiara', 'finn'], { ben: ['counted'], chiara: ['counted'] }, ['ben']],
  ],
  [
    'counts who was an approver once',
    [['chiara'], ['ben', 'finn'], { ben: ['counted'] }, ['chiara', 'ben']],
    [['chiara'], ['ben', 'finn'], { ben: [] }, ['chiara', 'ben'], 'ben'],
  ],
])('the model finds out a bot that %s', (_, right, wrong) => {
  expect([isExplained(...right), isExplained(...wrong)]).toEqual([true, false])
})
