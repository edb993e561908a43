import { execFile } from 'node:child_process'
import { basename, dirname, resolve } from 'node:path'
import { promisify } from 'node:util'
import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor'
import { Deployment as DeploymentModel } from 'kubernetes-models/apps/v1/Deployment'
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Namespace } from 'kubernetes-models/v1/Namespace'
import { Pod } from 'kubernetes-models/v1/Pod'
import { Service } from 'kubernetes-models/v1/Service'
import { type parse, parseAllDocuments } from 'yaml'
import { readConfig } from '../../src/config/config.ts'
import { bundles, changeKinds } from '../../src/features/index.ts'
import { findOrInstall } from '../sandbox/programs.ts'

/** An object as Kubernetes' API takes it. `problemsOf` checks its fields. */
export type ApiObject = ReturnType<typeof parse>

export const ofKind = (objects: ApiObject[], kind: string): ApiObject[] => objects.filter((object) => object.kind === kind)

/** Returns the one object of a kind with this name. */
export function named(objects: ApiObject[], kind: string, name: string): ApiObject {
  const [found, ...others] = ofKind(objects, kind).filter(({ metadata }) => metadata.name === name)
  if (!found || others.length > 0) throw new Error(`${found ? 'more than one' : 'no'} ${kind} ${name}`)
  return found
}

export const containerOf = ({ spec }: ApiObject): ApiObject => spec.template.spec.containers[0]

/** Returns the names of the Deployments whose pods have these labels. */
export function selected(objects: ApiObject[], labels: Record<string, string>): string[] {
  return ofKind(objects, 'Deployment')
    .filter(({ spec }) => Object.entries(labels).every(([name, value]) => spec.template.metadata.labels[name] === value))
    .map(({ metadata }) => metadata.name)
}

/** Returns the pods that a Service leads to, by their Deployments, and the ports of their containers. */
export function targetsOf(objects: ApiObject[], service: string) {
  const { selector, ports } = named(objects, 'Service', service).spec
  return { pods: selected(objects, selector), ports: ports.map(({ targetPort }: ApiObject) => portNumber(objects, targetPort)) }
}

/** Returns the pods that a policy is for, by their Deployments, and the ports that it opens. */
export function openedBy(objects: ApiObject[], policy: string) {
  const { podSelector, ingress = [] } = named(objects, 'NetworkPolicy', policy).spec
  return {
    pods: selected(objects, podSelector.matchLabels),
    ports: ingress.flatMap(({ ports }: ApiObject) => ports.map(({ port }: ApiObject) => port)),
  }
}

export function portNumber(objects: ApiObject[], port: string | number): number {
  const ports = ofKind(objects, 'Deployment').flatMap((deployment) => containerOf(deployment).ports)
  return typeof port === 'number' ? port : ports.find(({ name }) => name === port)?.containerPort
}

interface Model {
  apiVersion: string
  kind: string
  prototype: { validate(): void }
}

const models: Model[] = [ConfigMap, DeploymentModel, Ingress, Namespace, NetworkPolicy, Pod, PodDisruptionBudget, Service, ServiceMonitor]

/** Returns what Kubernetes' API would refuse about an object: wrong values, missing fields, and fields that it does not know. */
export function problemsOf(object: ApiObject): string[] {
  const model = models.find(({ apiVersion, kind }) => apiVersion === object.apiVersion && kind === object.kind)
  if (!model) return [`no schema for ${object.apiVersion} ${object.kind}`]
  const unread = new Set<string>()
  try {
    // Not a new model, which would be a copy and hide what the validator reads.
    model.prototype.validate.call(reportReads(object, object.kind, unread))
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)]
  }
  return [...unread].map((path) => `unknown field ${path}`)
}

/**
 * Returns a copy that removes the path of a field from `unread` when the field is read. The generated validators accept unknown fields,
 * and read all that they know.
 */
function reportReads(value: unknown, path: string, unread: Set<string>): unknown {
  if (typeof value !== 'object' || value === null) return value
  const pathOf = (name: string) => `${path}.${name}`
  const copy: object = Array.isArray(value) ? [] : {}
  for (const [name, field] of Object.entries(value)) {
    unread.add(pathOf(name))
    Object.assign(copy, { [name]: reportReads(field, pathOf(name), unread) })
  }
  return new Proxy(copy, {
    get(target, name, receiver) {
      if (typeof name === 'string') unread.delete(pathOf(name))
      return Reflect.get(target, name, receiver)
    },
  })
}

/** The folders of manifests: those that people use, and those of the tests, which have everything that can be added. */
export const folders = {
  http: 'deploy/kubernetes/overlays/http',
  socketMode: 'deploy/kubernetes/overlays/socket-mode',
  example: 'deploy/kubernetes/example',
  everythingHttp: 'test/deploy/everything/http',
  everythingSocketMode: 'test/deploy/everything/socket-mode',
}
export type Folder = keyof typeof folders

/** Returns the path of kubectl. Installs it first if that needs no permission. Throws with advice if there is none. */
function findKubectl(): Promise<string> {
  return findOrInstall({
    names: ['kubectl'],
    packages: ['kubernetes-client'],
    missing: 'There is no kubectl on this machine, which renders deploy/kubernetes/.',
    advice:
      'There is no kubectl on this machine. Install it (Debian: kubernetes-client, macOS: brew install kubectl) and run the command again.',
  })
}

/** Renders a folder as `kubectl apply -k` would send it. */
async function render(folder: Folder): Promise<ApiObject[]> {
  const path = resolve(import.meta.dirname, '../..', folders[folder])
  const { stdout } = await promisify(execFile)(await findKubectl(), ['kustomize', path])
  return parseAllDocuments(stdout).map((document) => document.toJS())
}

/** Renders all folders. */
export async function renderAll(): Promise<Record<Folder, ApiObject[]>> {
  const names = Object.keys(folders) as Folder[]
  const rendered = await Promise.all(names.map(async (name) => [name, await render(name)] as const))
  return Object.fromEntries(rendered) as Record<Folder, ApiObject[]>
}

/** The content of the Secret, to try the manifests with. */
export const secrets: Record<string, string> = {
  slack_bot_token: 'xoxb-203-113-botbotbot',
  slack_signing_secret: '8f742231b10e8888abcd99yyyzzz85a5',
  slack_app_token: 'xapp-1-A1-203-113',
  infra_api_key: 'lk_9f2c1b7e4d',
  redis_url: 'rediss://default:correct-horse@redis.example.com:6379',
  state_key: 'a-key-of-at-least-32-characters-here',
  alerts_token: 'a-token-of-at-least-32-characters-here',
}

/** Returns the variables that a pod begins with. Throws if a ConfigMap is missing that is not optional. */
export function variablesOf(deployment: ApiObject, objects: ApiObject[]): Record<string, string> {
  const { env, envFrom } = containerOf(deployment)
  const maps = envFrom.map(({ configMapRef: { name, optional } }: ApiObject) => {
    const isThere = ofKind(objects, 'ConfigMap').some(({ metadata }) => metadata.name === name)
    return isThere || !optional ? named(objects, 'ConfigMap', name).data : {}
  })
  return Object.assign({}, ...maps, Object.fromEntries(env.map(({ name, value }: ApiObject) => [name, value])))
}

/** Reads the configuration as the bot in this pod does, with `more` variables. Throws ConfigError if it is wrong. */
export function configOf(deployment: ApiObject, objects: ApiObject[], more: Record<string, string> = {}) {
  /** Reads a file that the pod has from a Secret or a ConfigMap. */
  function readFile(path: string): string {
    const mount = containerOf(deployment).volumeMounts.find(({ mountPath }: ApiObject) => mountPath === dirname(path))
    const volume = deployment.spec.template.spec.volumes.find(({ name }: ApiObject) => name === mount?.name)
    const files = volume?.configMap ? named(objects, 'ConfigMap', volume.configMap.name).data : volume?.secret ? secrets : {}
    const text = files[basename(path)]
    if (text === undefined) throw Object.assign(new Error(`the pod has no file ${path}`), { code: 'ENOENT' })
    return text
  }
  return readConfig({ ...variablesOf(deployment, objects), ...more }, { kinds: changeKinds, bundles, readFile })
}
