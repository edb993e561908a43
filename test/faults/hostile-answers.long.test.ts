import { execFile } from 'node:child_process'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, onTestFinished, test } from 'vitest'
import { defaultHttpTimings } from '../../src/account/http.ts'
import type { FaultOrder } from '../sandbox/account-api/faults.ts'
import { startAccountApi } from '../sandbox/account-api/start-account-api.ts'

const run = promisify(execFile)
const program = fileURLToPath(new URL('./hostile-answers.ts', import.meta.url))
const megabyte = 1024 * 1024

const calls = {
  read: { method: 'GET', path: /^\/elastic_ips\/./, deadlineMs: defaultHttpTimings.readMs },
  list: { method: 'GET', path: '/servers', deadlineMs: defaultHttpTimings.readMs },
  write: { method: 'PATCH', path: /^\/elastic_ips\/./, deadlineMs: defaultHttpTimings.writeMs },
} as const

interface Outcome {
  error: string
  ms: number
  grownMb: number
}

async function callInto(name: keyof typeof calls, order: FaultOrder) {
  const { method, path } = calls[name]
  const accountApi = await startAccountApi()
  onTestFinished(() => accountApi.close())
  const { elasticIp, target } = accountApi.world.movable()
  const skip = name === 'read' ? 20 : 0
  let seen = 0
  // The warm-up calls pass unharmed.
  const fault = accountApi.faults.add({ method, path, times: 10, when: () => ++seen > skip, ...order })
  const { stdout } = await run(process.execPath, [program, accountApi.url, accountApi.key, name, elasticIp.id, target.id])
  const outcome = JSON.parse(stdout) as Outcome
  console.log(JSON.stringify({ call: name, answer: order.kind, ...outcome, fired: fault.fired }))
  return { ...outcome, fault, accountApi }
}

test.each<[string, keyof typeof calls, FaultOrder, RegExp]>([
  ['300 MB', 'list', { kind: 'flood', bytes: 300 * megabyte }, /exceeds its limit of size/],
  ['300 MB', 'write', { kind: 'flood', bytes: 300 * megabyte }, /more than 8388608 bytes/],
  ['a bomb of 1 GB', 'list', { kind: 'bomb', bytes: 1024 * megabyte }, /an encoded body, which was not requested/],
  ['a bomb of 1 GB', 'write', { kind: 'bomb', bytes: 1024 * megabyte }, /an encoded body, which was not requested/],
  ['a refusal of 300 MB', 'list', { kind: 'flood', bytes: 300 * megabyte, status: 422 }, /servers\.list: 422/],
])('%s as the answer to a %s ends the call at once, and costs less than 50 MB', async (_, name, order, words) => {
  const { error, ms, grownMb, fault } = await callInto(name, order)

  expect(fault.fired).toBe(1)
  expect(error).toMatch(words)
  expect(ms).toBeLessThan(5_000)
  expect(grownMb).toBeLessThan(50)
})

test.each<[string, keyof typeof calls, FaultOrder]>([
  ['comes by drips', 'read', { kind: 'drip', delayMs: 100 }],
  ['comes by drips', 'write', { kind: 'drip', delayMs: 1_000 }],
  ['never comes', 'read', { kind: 'hang' }],
  ['never comes', 'write', { kind: 'hang' }],
])('an answer that %s ends a %s by its deadline', async (_, name, order) => {
  const { error, ms, grownMb, fault } = await callInto(name, order)

  expect(fault.fired).toBeGreaterThan(0)
  expect(error).toMatch(/no answer/)
  expect(ms).toBeLessThan(calls[name].deadlineMs + 2_000)
  expect(grownMb).toBeLessThan(50)
  if (name === 'write') expect(fault.fired).toBe(1)
})

test.each(['read', 'write'] as const)('a redirect to another host is not followed by a %s, and the key does not go there', async (name) => {
  const received: string[] = []
  const evil = createServer((request, response) => {
    received.push(`${request.method} ${request.url} ${request.headers.authorization}`)
    response.end('{}')
  })
  await new Promise<void>((resolve) => evil.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void evil.close())
  const location = `http://localhost:${(evil.address() as AddressInfo).port}/elastic_ips`

  const { error, fault } = await callInto(name, { kind: 'redirect', location })

  expect(fault.fired).toBe(1)
  expect(error).toMatch(/a redirect, which is not followed/)
  expect(received).toEqual([])
})
