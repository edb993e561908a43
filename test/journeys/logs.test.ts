import { expect, test } from 'vitest'
import { errors } from '../../src/domain/codes.ts'
import { logFields } from '../../src/ops/fields.ts'
import { ops, startWorld, untilCard, untilReport } from './world.ts'

type Line = Record<string, unknown> & { level: string; msg: string }

/** The fields of every line. */
const always = ['time', 'level', 'msg']

test('the log has one line for each step of a request, with its id, and only documented fields', async () => {
  const world = await startWorld()
  const { slack, ada, ben, log } = world
  const { elasticIp, target } = world.accountApi.world.movable()
  await ada.command(`/infra ip move ${elasticIp.address} ${target.hostname} because the disk is full`, { channel: ops })
  const card = await untilCard(slack, /needs approval from/)
  // An answer with an error is a line with a code.
  world.accountApi.faults.add({ method: 'GET', kind: 'status', status: 500, times: 1_000 })
  await ada.command('/infra plans', { channel: ops })
  await expect.poll(() => log.some((line) => line.includes('error-shown'))).toBe(true)
  world.accountApi.faults.clear()
  await ada.click(card, 'Approve')
  await ben.click(card, 'Approve')
  await ada.command('/infra keys create ci-deploy', { channel: ops })
  await ben.click(await untilCard(slack, /ci-deploy.*needs approval from/s), 'Reject')
  await untilReport(slack, card.ts, /Done/)

  const lines = log.map((line) => JSON.parse(line) as Line)
  const steps = lines.filter(({ step, kind }) => step !== undefined && kind === 'ip.move')
  expect(steps.map(({ step, state }) => `${step}: ${state}`)).toEqual([
    'request: waiting',
    'approve: approved',
    'send: starting',
    'accept: tracking',
    'finish: done',
  ])
  expect(new Set(steps.map(({ requestId }) => requestId)).size).toBe(1)
  const requestId = steps[0]?.requestId
  expect(requestId).toEqual(expect.any(String))
  const about = (fields: Partial<Line>) => lines.filter((line) => Object.entries(fields).every(([name, value]) => line[name] === value))
  expect(about({ msg: 'refused', at: 'click request-approve' })).toEqual([
    expect.objectContaining({ requestId, code: 'own-request', userId: expect.any(String) }),
  ])
  expect(about({ operation: 'elasticIps.move' })).toEqual([expect.objectContaining({ requestId })])
  expect(steps.find(({ step }) => step === 'send')?.sinceApprovalMs).toEqual(expect.any(Number))
  expect(steps.at(-1)?.tookMs).toEqual(expect.any(Number))
  expect(log.join('')).not.toContain('the disk is full')

  const known = [...always, ...Object.keys(logFields)]
  for (const line of lines) expect(Object.keys(line).filter((field) => !known.includes(field))).toEqual([])
  const troubles = lines.filter(({ level }) => ['warn', 'error', 'fatal'].includes(level))
  expect(troubles.length).toBeGreaterThan(0)
  for (const { code, fix } of troubles) expect(fix).toBe(errors[code as keyof typeof errors]?.do)
})
