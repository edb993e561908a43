import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { type AblationName, startOptions } from './ablations.ts'

const run = promisify(execFile)
const program = fileURLToPath(new URL('./claims.ts', import.meta.url))

interface Claims {
  trials: number
  lostReplies: number
  none: number
  one: number
  more: number
}

async function claim(trials: number, ablation?: AblationName): Promise<Claims> {
  const { nodeOptions, env } = startOptions(ablation)
  const { stdout } = await run(process.execPath, [...nodeOptions, program, String(trials), '4'], { env: { ...process.env, ...env } })
  return JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}')
}

test('exactly one of four replicas wins each claim, although answers are lost and commands are sent twice', async () => {
  const { lostReplies, none, one, more } = await claim(60)
  expect(lostReplies).toBeGreaterThan(10)
  expect({ none, one, more }).toEqual({ none: 0, one: 60, more: 0 })
}, 60_000)

test('ablation: with a plain SET NX nobody wins some claims, and the trial notices', async () => {
  const { lostReplies, none } = await claim(60, 'plain SET NX')
  expect(lostReplies).toBeGreaterThan(10)
  expect(none).toBeGreaterThan(0)
}, 60_000)

test('one of two people who approve at the same moment through two replicas wins, each of 400 times, while 15 % of the answers are lost', async () => {
  const seed = Number(process.env.APPROVALS_SEED ?? Math.floor(Math.random() * 2 ** 31))
  const approvals = fileURLToPath(new URL('./approvals.ts', import.meta.url))
  const { stdout } = await run(process.execPath, [approvals, '400', '15', String(seed)])
  const outcome = JSON.parse(stdout.trim().split('\n').at(-1) ?? '{}') as Record<string, number>
  console.log(JSON.stringify({ APPROVALS_SEED: seed, ...outcome }))

  expect(outcome.lostReplies).toBeGreaterThan(200)
  expect(outcome).toMatchObject({ none: 0, one: 400, more: 0, toldBoth: 0, toldWrong: 0, approvalsNoted: 400 })
}, 120_000)
