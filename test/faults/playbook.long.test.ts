import { execFile } from 'node:child_process'
import { copyFileSync, mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { startMachineWorld, token } from '../features/machines/machines-world.ts'
import { filesOfPage, startFailingProxy } from '../features/machines/page-for-test.ts'
import { patchesOf, untilCard } from '../journeys/world.ts'
import { findOrInstall } from '../sandbox/programs.ts'

test('the playbook of deploy/machines, with the real Ansible, through a proxy that fails in each way at each step', async () => {
  const advice = 'The playbook of deploy/machines needs Ansible. Install ansible-core.'
  const missing = 'There is no Ansible on this machine.'
  const program = await findOrInstall({ names: ['ansible-playbook'], packages: ['ansible-core'], missing, advice })
  const world = await startMachineWorld({}, filesOfPage.get('policy.yml'))
  const proxy = await startFailingProxy(world.urlOf)
  const folder = mkdtempSync(join(tmpdir(), 'playbook-'))
  copyFileSync(join(import.meta.dirname, '../../deploy/machines/failover.yml'), join(folder, 'failover.yml'))

  async function play(key: string, lockkeeper = proxy.url) {
    const vars = { lockkeeper, key, pause: 0 }
    const env = { PATH: process.env.PATH, HOME: folder, LOCKKEEPER_TOKEN: token, ANSIBLE_LOCALHOST_WARNING: 'false', LANG: 'C.UTF-8' }
    const args = ['-i', 'localhost,', '-c', 'local', '-e', JSON.stringify(vars), 'failover.yml']
    return promisify(execFile)(program, args, { cwd: folder, env })
  }

  const playing = play('1')
  await expect.poll(() => proxy.left, { timeout: 300_000 }).toEqual({ GET: [], POST: [] })
  await world.ben.click(await untilCard(world.slack, /Failover/), 'Approve')
  const { stdout } = await playing
  expect(stdout).toMatch(/failed=0/)
  expect(stdout).not.toContain(token)
  expect(await world.records.all()).toMatchObject([{ state: 'done' }])
  expect(patchesOf(world)).toHaveLength(1)

  // Nothing to do is no failure, and a refusal says why.
  expect((await play('2')).stdout).toMatch(/failed=0/)
  await world.records.redis.del(world.records.keys.machineCalls('machine:ci'))
  await expect(play('bad key')).rejects.toMatchObject({ stdout: expect.stringContaining('must have 1 to 255 characters without spaces') })
  await expect(play('3', 'http://127.0.0.1:9')).rejects.toMatchObject({ stdout: expect.stringMatching(/Connection refused/) })
}, 600_000)
