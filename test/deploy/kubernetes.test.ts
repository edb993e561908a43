import { readFileSync } from 'node:fs'
import { basename, join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { parseAllDocuments } from 'yaml'
import { variableNames } from '../../src/config/config.ts'
import { pagePath } from '../../src/features/passkeys/links.ts'
import { endpoint } from '../../src/slack/http-receiver.ts'
import { startWorld } from '../journeys/world.ts'
import {
  type ApiObject,
  configOf,
  containerOf,
  type Folder,
  folders,
  named,
  ofKind,
  openedBy,
  portNumber,
  problemsOf,
  renderAll,
  secrets,
  selected,
  targetsOf,
  variablesOf,
} from './kubernetes.ts'

const root = resolve(import.meta.dirname, '../..')
const rendered = await renderAll()
const everything = rendered.everythingHttp
const web = named(everything, 'Deployment', 'lockkeeper-web')
const worker = named(everything, 'Deployment', 'lockkeeper-worker')
/** Returns the objects of a file that a person may add to the example. */
const ofExample = (file: string): ApiObject[] =>
  parseAllDocuments(readFileSync(join(root, folders.example, file), 'utf8')).map((document) => document.toJS())
/** Returns the paths of its Ingress, each with the Service and the ports to which it leads. */
const pathsTo = (file: string) =>
  ofKind(ofExample(file), 'Ingress')[0].spec.rules[0].http.paths.map(({ path, backend: { service } }: ApiObject) => [
    path,
    service.name,
    [service.port.name],
  ])
/** What every person has to set. */
const own = { INFRA_API_URL: 'https://api.example.com/v1', APPROVERS: 'S0ONCALL01' }

describe('the API', () => {
  test.each(Object.keys(folders) as Folder[])('accepts %s, and knows all of its fields', (folder) => {
    const problems = rendered[folder].flatMap((object) => problemsOf(object).map((problem) => `${object.metadata.name}: ${problem}`))

    expect(rendered[folder].length).toBeGreaterThan(5)
    expect(problems).toEqual([])
  })

  test('refuses a misspelled field, a wrong type and an old version', () => {
    const withSpec = (more: object): ApiObject => ({ ...web, ...{ spec: { ...web.spec, ...more } } })

    expect(problemsOf(withSpec({ replica: 2 }))).toEqual(['unknown field Deployment.spec.replica'])
    expect(problemsOf(withSpec({ replicas: 'two' }))).toEqual(['data/spec/replicas must be integer'])
    expect(problemsOf({ ...web, apiVersion: 'apps/v1beta1' })).toEqual(['no schema for apps/v1beta1 Deployment'])
  })
})

describe.each([
  ['HTTP', 'everythingHttp', 'http'],
  ['Socket Mode', 'everythingSocketMode', 'socketMode'],
] as const)('the pods with %s', (mode, whole, bare) => {
  const deployments = ofKind(rendered[whole], 'Deployment')

  test('have a configuration that the bot accepts, one for each role', () => {
    for (const folder of [whole, bare]) {
      const configs = ofKind(rendered[folder], 'Deployment').map((deployment) => configOf(deployment, rendered[folder], own))

      expect(configs.map(({ role }) => role)).toEqual(['web', 'worker'])
      for (const { slack, opsHost, signsWithApiKey } of configs) {
        expect({ http: slack.signingSecrets !== undefined, socketMode: slack.appToken !== undefined }).toEqual({
          http: mode === 'HTTP',
          socketMode: mode === 'Socket Mode',
        })
        expect({ opsHost, signsWithApiKey }).toEqual({ opsHost: '0.0.0.0', signsWithApiKey: false })
      }
    }
  })

  test('set only variables of the bot, and read each secret from the key of its name', () => {
    for (const deployment of deployments) {
      const names = Object.entries(variablesOf(deployment, rendered[whole]))
      const files = names.filter(([name]) => name.endsWith('_FILE'))

      expect(names.map(([name]) => name).filter((name) => !variableNames.includes(name))).toEqual([])
      expect(files).toEqual(files.map(([name]) => [name, `/run/secrets/lockkeeper/${name.replace(/_FILE$/, '').toLowerCase()}`]))
      expect(Object.keys(secrets)).toEqual(expect.arrayContaining(files.map(([, path]) => basename(path))))
    }
  })
})

describe('the example', () => {
  const deployments = ofKind(rendered.example, 'Deployment')

  test('is a whole configuration, with a policy from a file', () => {
    for (const deployment of deployments) {
      const { policyFile, warnings } = configOf(deployment, rendered.example)
      expect({ policyFile, warnings }).toEqual({ policyFile: '/etc/lockkeeper/policy.yml', warnings: [] })
    }
  })

  test('runs this version', () => {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    const images = new Set(deployments.map((deployment) => containerOf(deployment).image))

    expect(images).toEqual(new Set([`registry.example.com/lockkeeper:${version}`]))
  })
})

describe('the ports and paths', () => {
  const both = ['lockkeeper-web', 'lockkeeper-worker']

  test('are those that the bot listens at, and each policy opens exactly those of its Service', () => {
    const { slack, alerts, machines, opsPort } = configOf(web, everything, own)
    const http = { pods: ['lockkeeper-web'], ports: [slack.port] }
    const operations = { pods: both, ports: [opsPort] }
    const taken = { pods: ['lockkeeper-web'], ports: [alerts?.port] }
    const called = { pods: ['lockkeeper-web'], ports: [machines?.port] }

    expect(targetsOf(everything, 'lockkeeper')).toEqual(http)
    expect(openedBy(everything, 'lockkeeper-http')).toEqual(http)
    expect(targetsOf(everything, 'lockkeeper-ops')).toEqual(operations)
    expect(openedBy(everything, 'lockkeeper-ops')).toEqual(operations)
    expect(targetsOf(everything, 'lockkeeper-alerts')).toEqual(taken)
    expect(openedBy(everything, 'lockkeeper-alerts')).toEqual(taken)
    // Otherwise only the namespace "monitoring" may send alerts.
    expect(openedBy([...everything, ...ofExample('alerts-ingress.yaml')], 'lockkeeper-alerts-ingress')).toEqual(taken)
    expect(targetsOf(everything, 'lockkeeper-machines')).toEqual(called)
    expect(openedBy(everything, 'lockkeeper-machines')).toEqual(called)
    expect([alerts?.host, machines?.host]).toEqual(['0.0.0.0', '0.0.0.0'])
    expect(configOf(worker, everything, own)).toMatchObject({ alerts: undefined, machines: undefined })
    expect(openedBy(everything, 'lockkeeper')).toEqual({ pods: both, ports: [] })
  })

  test('of the probes and of the monitor are pages of the bot', async () => {
    const world = await startWorld()
    const statusOf = async (path: string) => (await fetch(`http://127.0.0.1:${world.bots[0]?.opsPort}${path}`)).status
    const probes = [web, worker].flatMap((deployment) => {
      const { startupProbe, livenessProbe, readinessProbe } = containerOf(deployment)
      return [startupProbe.httpGet, livenessProbe.httpGet, readinessProbe.httpGet]
    })
    const endpoints = ofKind(everything, 'ServiceMonitor').flatMap(({ spec }) => spec.endpoints)

    expect(probes.map(({ path }) => path)).toEqual(['/healthz', '/healthz', '/readyz', '/healthz', '/healthz', '/readyz'])
    expect(probes.map(({ port }) => portNumber(everything, port))).toEqual(probes.map(() => configOf(web, everything, own).opsPort))
    for (const { path } of [...probes, ...endpoints]) expect(await statusOf(path)).toBe(200)
    expect(endpoints).toHaveLength(1)
  })

  test('belong to Services that the Ingress and the monitor find', () => {
    const [monitor] = ofKind(everything, 'ServiceMonitor')
    const operations = named(everything, 'Service', 'lockkeeper-ops')
    const portNames = (service: string) => named(everything, 'Service', service).spec.ports.map(({ name }: ApiObject) => name)

    expect(pathsTo('ingress.yaml')).toEqual([
      [endpoint, 'lockkeeper', portNames('lockkeeper')],
      [pagePath, 'lockkeeper', portNames('lockkeeper')],
    ])
    expect(pathsTo('machines-ingress.yaml')).toEqual([
      ['/v1', 'lockkeeper-machines', portNames('lockkeeper-machines')],
      ['/mcp', 'lockkeeper-machines', portNames('lockkeeper-machines')],
    ])
    expect(pathsTo('alerts-ingress.yaml')).toEqual([['/alerts/alertmanager', 'lockkeeper-alerts', portNames('lockkeeper-alerts')]])
    expect(monitor?.spec.endpoints.map(({ port }: ApiObject) => port)).toEqual(portNames('lockkeeper-ops'))
    expect(monitor?.spec.selector.matchLabels).toEqual(operations.metadata.labels)
  })
})

test.each(['alerts-ingress.yaml', 'machines-ingress.yaml'])('%s can be added to the example, and the API accepts it', (file) => {
  expect(ofExample(file).flatMap(problemsOf)).toEqual([])
  expect(readFileSync(join(root, folders.example, 'kustomization.yaml'), 'utf8')).toContain(`  # - ${file}\n`)
})

test('docs/backup.md restores through a pod that the API accepts, with the lines that are tested under Compose', () => {
  const page = readFileSync(join(root, 'docs/backup.md'), 'utf8')
  const [, pod = ''] = / run restore .* --overrides '(.+)'/.exec(page) ?? []
  const [underCompose, onKubernetes] = [...page.matchAll(/sh -c '(cd .+)' < /g)].map(([, lines]) => lines)

  expect(problemsOf({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'restore' }, ...JSON.parse(pod) })).toEqual([])
  expect(underCompose).toContain('tar -x')
  expect(onKubernetes).toBe(underCompose)
})

describe('the Deployments', () => {
  test('keep the strictest of the Pod Security Standards', () => {
    for (const { spec } of [web, worker]) {
      const { securityContext, volumes, containers } = spec.template.spec
      expect(securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000, seccompProfile: { type: 'RuntimeDefault' } })
      expect(containers.map(({ securityContext }: ApiObject) => securityContext)).toEqual([
        { allowPrivilegeEscalation: false, readOnlyRootFilesystem: true, capabilities: { drop: ['ALL'] } },
      ])
      expect(volumes.map((volume: ApiObject) => Object.keys(volume).filter((key) => key !== 'name'))).toEqual([
        ['secret'],
        ['configMap'],
        ['emptyDir'],
      ])
      expect(JSON.stringify(spec.template.spec)).not.toMatch(/hostNetwork|hostPID|hostIPC|hostPort|procMount|sysctls/)
    }
  })

  test('differ in the role alone, in the ports for alerts and machines, and in the pause in which nodes learn that a web pod is gone', () => {
    const workerAsWeb = JSON.parse(JSON.stringify(worker).replaceAll('worker', 'web'))
    Object.assign(workerAsWeb.spec.template.spec, { terminationGracePeriodSeconds: 20 })
    Object.assign(workerAsWeb.spec.template.spec.containers[0], { lifecycle: { preStop: { exec: { command: ['sleep', '5'] } } } })
    // Workers take no alerts and no calls of machines.
    workerAsWeb.spec.template.spec.containers[0].envFrom.push(...containerOf(web).envFrom.slice(1))

    expect(workerAsWeb).toEqual(web)
    // The bot ends within 10 s.
    expect(worker.spec.template.spec.terminationGracePeriodSeconds).toBe(15)
  })

  test('select their own pods, and a budget of each keeps all replicas but one', () => {
    for (const { metadata, spec } of [web, worker]) {
      const budget = named(everything, 'PodDisruptionBudget', metadata.name)

      expect(selected(everything, spec.selector.matchLabels)).toEqual([metadata.name])
      expect(selected(everything, budget.spec.selector.matchLabels)).toEqual([metadata.name])
      expect({ replicas: spec.replicas, maxUnavailable: budget.spec.maxUnavailable }).toEqual({ replicas: 2, maxUnavailable: 1 })
    }
  })

  test('get every secret by reference, and no manifest contains one', () => {
    expect(JSON.stringify(rendered)).not.toMatch(/"kind":"Secret"|xoxb-|xapp-|secretKeyRef/)
    for (const { spec } of [web, worker]) {
      expect(spec.template.spec.volumes[0]).toEqual({ name: 'secrets', secret: { secretName: 'lockkeeper', defaultMode: 0o440 } })
    }
  })
})
