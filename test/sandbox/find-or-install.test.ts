import { expect, test, vi } from 'vitest'
import { findChromium } from './browser.ts'
import { findOrInstall } from './find-or-install.ts'

const wanted = { names: ['redis-server', 'valkey-server'], packages: ['redis-server'], missing: 'There is none.', advice: 'Install one.' }

test('a program that is there is used, and nothing is installed', async () => {
  const install = vi.fn(async () => true)

  const program = await findOrInstall(wanted, { find: () => '/usr/bin/valkey-server', canInstall: () => true, install })

  expect(program).toBe('/usr/bin/valkey-server')
  expect(install).not.toHaveBeenCalled()
})

test('where we may install, it is installed and then used', async () => {
  let there: string | undefined
  const install = vi.fn(async () => {
    there = '/usr/bin/redis-server'
    return true
  })

  const program = await findOrInstall(wanted, { find: () => there, canInstall: () => true, install })

  expect(program).toBe('/usr/bin/redis-server')
  expect(install).toHaveBeenCalledWith(['redis-server'], 'There is none.')
})

test.each([
  ['where we may not install', { canInstall: () => false, install: async () => true }],
  ['where installing does not work', { canInstall: () => true, install: async () => false }],
])('%s, the advice is the error', async (_, how) => {
  await expect(findOrInstall(wanted, { find: () => undefined, ...how })).rejects.toThrow('Install one.')
})

test('a CHROMIUM_PATH that leads nowhere is an error, not a reason to take another browser', async () => {
  await expect(findChromium({ CHROMIUM_PATH: '/nowhere/chromium' })).rejects.toThrow(
    'CHROMIUM_PATH is /nowhere/chromium, and there is no program of that name.',
  )
})
