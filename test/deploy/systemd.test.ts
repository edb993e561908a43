import { readFileSync } from 'node:fs'
import { basename, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig, variableNames } from '../../src/config/config.ts'
import { bundles, changeKinds } from '../../src/features/index.ts'
import { secrets } from './kubernetes.ts'
import { environmentOf, modes, textOf, valuesOf } from './systemd-unit.ts'

const dockerfile = readFileSync(resolve(import.meta.dirname, '../../Dockerfile'), 'utf8')
/** Variables of Node and of the C library. */
const ofTheRuntime = ['NODE_ENV', 'NODE_COMPILE_CACHE', 'MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_']

describe.each(modes)('the systemd unit with %s', (mode) => {
  const variables = environmentOf(mode, { credentials: '/credentials', cache: '/cache' })
  const own = Object.entries(variables).filter(([name]) => !ofTheRuntime.includes(name))

  test('gives the bot a configuration that it accepts', () => {
    const env = { ...variables, INFRA_API_URL: 'https://api.example.com/v1', APPROVERS: 'S0ONCALL01' }
    const config = readConfig(env, { kinds: changeKinds, bundles, readFile: (path) => secrets[basename(path)] ?? '' })

    expect(config).toMatchObject({ role: 'all', opsHost: '127.0.0.1', signsWithApiKey: false })
    expect(config.slack).toMatchObject(mode === 'http' ? { host: '127.0.0.1', appToken: undefined } : { signingSecrets: undefined })
  })

  test('sets only variables of the bot, and every secret by the credential of its name', () => {
    const files = own.filter(([name]) => name.endsWith('_FILE'))
    const credentials = valuesOf('LoadCredential', mode)

    expect(own.map(([name]) => name).filter((name) => !variableNames.includes(name))).toEqual([])
    expect(files).toEqual(files.map(([name]) => [name, `/credentials/${name.replace(/_FILE$/, '').toLowerCase()}`]))
    expect(credentials.toSorted()).toEqual(
      files.map(([, path]) => `${basename(path)}:/etc/lockkeeper/secrets/${basename(path)}`).toSorted(),
    )
  })
})

test('the unit runs the bot as the image does', () => {
  const [, command = '[]'] = /^CMD (\[.*\])$/m.exec(dockerfile) ?? []
  const [program, ...options] = JSON.parse(command)

  expect(valuesOf('ExecStart', 'http')).toEqual([[`/usr/bin/${program}`, ...options].join(' ')])
  for (const name of ['NODE_ENV', 'MALLOC_ARENA_MAX', 'MALLOC_TRIM_THRESHOLD_']) {
    const { [name]: value } = environmentOf('http', { credentials: '', cache: '' })
    expect(dockerfile).toContain(`${name}=${value}`)
  }
  expect(textOf('lockkeeper.service')).toMatch(/^LimitCORE=0$/m)
  // The bot ends within 10 s.
  expect(valuesOf('TimeoutStopSec', 'http')).toEqual(['15s'])
})
