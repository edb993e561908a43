import { expect, test, vi } from 'vitest'
import { findChromium } from './browser.ts'
import { findOrInstall } from './programs.ts'

const wanted = { names: ['redis-server', 'valkey-server'], packages: ['redis-server'], missing: 'There is none.', advice: 'Install one.' }

test('an installed program is used, and nothing is installed', async () => {
  const install = vi.fn(async () => true)

  const program = await findOrInstall(wanted, { find: () => '/usr/bin/valkey-server', canInstall: () => true, install })

  expect(program).toBe('/usr/bin/valkey-server')
  expect(install).not.toHaveBeenCalled()
})

test('if installing is possible, the program is installed and then used', async () => {
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
  ['without the right to install', { canInstall: () => false, install: async () => true }],
  ['if the installation fails', { canInstall: () => true, install: async () => false }],
])('%s, the error is the advice', async (_, how) => {
  await expect(findOrInstall(wanted, { find: () => undefined, ...how })).rejects.toThrow('Install one.')
})

test('a CHROMIUM_PATH that names no program is an error, and no other browser is used', async () => {
  await expect(findChromium({ CHROMIUM_PATH: '/nowhere/chromium' })).rejects.toThrow(
    'CHROMIUM_PATH is /nowhere/chromium, and there is no program of that name.',
  )
})
