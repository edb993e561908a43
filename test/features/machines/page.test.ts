import { execFile } from 'node:child_process'
import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { lintWorkflow } from '../../../scripts/lint-workflows.ts'
import { commandBlocks } from '../../docs/command-blocks.ts'
import { patchesOf, untilCard } from '../../journeys/world.ts'
import { findOrInstall } from '../../sandbox/programs.ts'
import { startMachineWorld, token } from './machines-world.ts'
import { filesOfPage as files, startFailingProxy } from './page-for-test.ts'

const curls = commandBlocks('docs/machines.md').map(({ commands }) => commands)

async function run(commands: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], {
    cwd: mkdtempSync(join(tmpdir(), 'recipe-')),
    env: { PATH: process.env.PATH, ...env },
  })
  return stdout
}

test('the lines with curl, under the policy of the page', async () => {
  const world = await startMachineWorld({}, files.get('policy.yml'))
  const env = { LOCKKEEPER: world.urlOf(), TOKEN: token }
  const [request = '', wait = '', withdraw = '', lists = '', ...others] = curls
  expect(others).toEqual([])

  const made = JSON.parse(await run(request, env))
  expect(made).toMatchObject({ change: 'ip.move', state: 'waiting', subject: '203.0.113.10' })
  expect(JSON.parse(await run(request, env)).id).toBe(made.id)
  const card = await untilCard(world.slack, /ci \(machine\) needs approval from <!subteam\^S0ONCALL01>/)
  const waited = run(wait, { ...env, ID: made.id })
  await world.ben.click(card, 'Approve')
  expect(JSON.parse(await waited).state).not.toBe('waiting')
  await expect.poll(() => patchesOf(world).length).toBe(1)
  expect(JSON.parse(await run(withdraw, { ...env, ID: made.id })).code).toBe('too-late')
  const answers = (await run(lists.trimEnd().replaceAll(/$/gm, '; echo'), env))
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  expect(answers.slice(0, 4).every(({ items, code }) => Array.isArray(items) || code === 'account-limit')).toBe(true)
  expect(answers[4]).toMatchObject({ openapi: '3.1.0', paths: { '/v1/requests': { post: { operationId: 'request_change' } } } })
})

test('the workflow of the page, through a proxy that fails in each way at each step', async () => {
  const advice = 'The workflow of docs/machines.md needs jq, as the runners of GitHub have it. Install jq.'
  await findOrInstall({ names: ['jq'], packages: ['jq'], missing: 'There is no jq on this machine.', advice })
  const world = await startMachineWorld({}, files.get('policy.yml'))
  const proxy = await startFailingProxy(world.urlOf)
  const workflow = files.get('.github/workflows/failover.yml') ?? ''
  const [step] = parse(workflow).jobs.move.steps
  const env = { LOCKKEEPER: proxy.url, TOKEN: token, KEY: '1', LINK: 'https://github.com/nimbus/shop/actions/runs/1', PAUSE: '0.1' }
  const running = run(step.run, env)
  await expect.poll(() => proxy.left, { timeout: 30_000 }).toEqual({ GET: [], POST: [] })
  await world.ben.click(await untilCard(world.slack, /Failover/), 'Approve')

  // Nothing of what failed is printed.
  expect(await running).toMatch(/^Done\.[^\n<]*\n$/)
  expect(await world.records.all()).toHaveLength(1)
  await world.records.redis.del(world.records.keys.machineCalls('machine:ci'))
  const refused = run(step.run, { ...env, KEY: '2' })
  await expect(refused).rejects.toMatchObject({
    stdout: expect.stringMatching(/^Not requested: 203\.0\.113\.10 is already on web-2\.[^\n]*\n$/),
  })
  const away = run(step.run, { ...env, LOCKKEEPER: 'http://127.0.0.1:9', PAUSE: '0' })
  await expect(away).rejects.toMatchObject({ stdout: expect.stringMatching(/^Lockkeeper doesn't answer \(last status: 000\)\./) })
  expect(await lintWorkflow('failover.yml', workflow)).toEqual([])
})
