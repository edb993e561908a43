import { basename, dirname } from 'node:path'
import { readConfig } from '../../src/config/config.ts'
import { bundles, changeKinds } from '../../src/features/index.ts'
import { type ApiObject, containerOf, type Deployment, named, ofKind } from './api-objects.ts'

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
export function variablesOf(deployment: Deployment, objects: ApiObject[]): Record<string, string> {
  const { env, envFrom } = containerOf(deployment)
  const maps = envFrom.map(({ configMapRef: { name, optional } }) => {
    const isThere = ofKind(objects, 'ConfigMap').some(({ metadata }) => metadata.name === name)
    return isThere || !optional ? named(objects, 'ConfigMap', name).data : {}
  })
  return Object.assign({}, ...maps, Object.fromEntries(env.map(({ name, value }) => [name, value])))
}

/** Reads the configuration as the bot in this pod does, with `more` variables. Throws ConfigError if it is wrong. */
export function configOf(deployment: Deployment, objects: ApiObject[], more: Record<string, string> = {}) {
  const env = { ...variablesOf(deployment, objects), ...more }
  return readConfig(env, { kinds: changeKinds, bundles, readFile: (path) => readMounted(path, deployment, objects) })
}

/** Reads a file that the pod has from a Secret or a ConfigMap. */
function readMounted(path: string, deployment: Deployment, objects: ApiObject[]): string {
  const mount = containerOf(deployment).volumeMounts.find(({ mountPath }) => mountPath === dirname(path))
  const volume = deployment.spec.template.spec.volumes.find(({ name }) => name === mount?.name)
  const files = volume?.configMap ? named(objects, 'ConfigMap', volume.configMap.name).data : volume?.secret ? secrets : {}
  const text = files[basename(path)]
  if (text === undefined) throw Object.assign(new Error(`the pod has no file ${path}`), { code: 'ENOENT' })
  return text
}
