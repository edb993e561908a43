import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { parse } from 'yaml'
import { lintWorkflow } from '../../scripts/lint-workflows.ts'
import { commandBlocks } from '../docs/command-blocks.ts'
import { patchesOf, untilCard } from '../journeys/world.ts'
import { findOrInstall } from '../sandbox/programs.ts'
import { startMachineWorld, token } from './machines-world.ts'

const page = readFileSync(new URL('../../docs/machines.md', import.meta.url), 'utf8')
const curls = commandBlocks('docs/machines.md').map(({ commands }) => commands)

/** The blocks of YAML, by the name of their file in the first line. */
const files = new Map(
  [...page.matchAll(/^( *)```yaml\n *# (\S+)\n([\s\S]*?)^ *```$/gm)].map(([, indent = '', name = '', text = '']) => [
    name,
    text.replaceAll(new RegExp(`^${indent}`, 'gm'), ''),
  ]),
)

async function run(commands: string, env: Record<string, string>): Promise<string> {
  const { stdout } = await promisify(execFile)('bash', ['-euo', 'pipefail', '-c', commands], { env: { PATH: process.env.PATH, ...env } })
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
  expect(JSON.parse(await run(withdraw, { ...env, ID: made.id })).code).toBe('conflict')
  const answers = (await run(lists.trimEnd().replaceAll(/$/gm, '; echo'), env))
    .split('\n')
    .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  expect(answers.slice(0, 4).every(({ items, code }) => Array.isArray(items) || code === 'account-limit')).toBe(true)
  expect(answers[4]).toMatchObject({ openapi: '3.1.0', paths: { '/v1/requests': { post: { operationId: 'request_change' } } } })
})

test('the workflow of the page, against a bot', async () => {
  const advice = 'The workflow of docs/machines.md needs jq, as the runners of GitHub have it. Install jq.'
  await findOrInstall({ names: ['jq'], packages: ['jq'], missing: 'There is no jq on this machine.', advice })
  const world = await startMachineWorld({}, files.get('policy.yml'))
  const workflow = files.get('.github/workflows/failover.yml') ?? ''
  const [step] = parse(workflow).jobs.move.steps
  const running = run(step.run, {
    LOCKKEEPER: world.urlOf(),
    TOKEN: token,
    KEY: '1',
    LINK: 'https://github.com/nimbus/shop/actions/runs/1',
  })
  await world.ben.click(await untilCard(world.slack, /Failover/), 'Approve')

  expect(await running).toMatch(/^Done\./)
  const refused = run(step.run, { LOCKKEEPER: world.urlOf(), TOKEN: token, KEY: '2', LINK: 'https://example.com' })
  await expect(refused).rejects.toMatchObject({ stdout: expect.stringMatching(/^Not requested: 203\.0\.113\.10 is already on web-2\./) })
  expect(await lintWorkflow('failover.yml', workflow)).toEqual([])
})

test('the playbook of the page is YAML that asks for what the API takes', () => {
  const [play] = parse(files.get('failover.yml') ?? '')
  expect(play.tasks.map((task: Record<string, unknown>) => Object.keys(task)[1])).toEqual([
    'ansible.builtin.uri',
    'ansible.builtin.fail',
    'ansible.builtin.uri',
    'ansible.builtin.assert',
  ])
  expect(play.tasks[0]['ansible.builtin.uri'].body).toEqual({
    change: 'ip.move',
    elastic_ip: '203.0.113.10',
    server: 'web-2',
    reason: 'Failover',
  })
})
