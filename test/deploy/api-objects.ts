/** An object as Kubernetes' API takes it. */
export interface ApiObject {
  apiVersion: string
  kind: string
  metadata: { name: string; labels?: Record<string, string> }
}

interface Labels {
  matchLabels: Record<string, string>
}

interface Probe {
  httpGet: { port: string | number; path: string }
}

export interface Container {
  image: string
  env: { name: string; value: string }[]
  envFrom: { configMapRef: { name: string; optional?: boolean } }[]
  ports: { name: string; containerPort: number }[]
  startupProbe: Probe
  livenessProbe: Probe
  readinessProbe: Probe
  securityContext: object
  volumeMounts: { name: string; mountPath: string; readOnly?: boolean }[]
}

export type Volume = { name: string; secret?: { secretName: string }; configMap?: { name: string } } & Record<string, unknown>

export interface Deployment extends ApiObject {
  spec: {
    replicas: number
    selector: Labels
    template: {
      metadata: { labels: Record<string, string> }
      spec: { securityContext: object; containers: [Container]; volumes: Volume[]; terminationGracePeriodSeconds: number }
    }
  }
}

interface Kinds {
  ConfigMap: ApiObject & { data: Record<string, string> }
  Deployment: Deployment
  Service: ApiObject & { spec: { selector: Record<string, string>; ports: { name: string; targetPort: string | number }[] } }
  NetworkPolicy: ApiObject & { spec: { podSelector: Labels; ingress?: { ports: { port: number }[] }[] } }
  PodDisruptionBudget: ApiObject & { spec: { selector: Labels; maxUnavailable: number } }
  ServiceMonitor: ApiObject & { spec: { selector: Labels; endpoints: { port: string; path: string }[] } }
  Ingress: ApiObject & {
    spec: { rules: { http: { paths: { path: string; backend: { service: { name: string; port: { name: string } } } }[] } }[] }
  }
}

/** Returns the objects of a kind. `test/deploy/api-schemas.ts` checks that they have its fields. */
export function ofKind<Kind extends keyof Kinds>(objects: ApiObject[], kind: Kind): Kinds[Kind][] {
  return objects.filter((object): object is Kinds[Kind] => object.kind === kind)
}

/** Returns the one object of a kind with this name. */
export function named<Kind extends keyof Kinds>(objects: ApiObject[], kind: Kind, name: string): Kinds[Kind] {
  const [found, ...others] = ofKind(objects, kind).filter(({ metadata }) => metadata.name === name)
  if (!found || others.length > 0) throw new Error(`${others.length === 0 && !found ? 'no' : 'more than one'} ${kind} ${name}`)
  return found
}

export const containerOf = ({ spec }: Deployment): Container => spec.template.spec.containers[0]

/** Returns the names of the Deployments whose pods have these labels. */
export function selected(objects: ApiObject[], labels: Record<string, string>): string[] {
  return ofKind(objects, 'Deployment')
    .filter(({ spec }) => Object.entries(labels).every(([name, value]) => spec.template.metadata.labels[name] === value))
    .map(({ metadata }) => metadata.name)
}

/** Returns the pods that a Service leads to, by their Deployments, and the ports of their containers. */
export function targetsOf(objects: ApiObject[], service: string) {
  const { spec } = named(objects, 'Service', service)
  return { pods: selected(objects, spec.selector), ports: spec.ports.map(({ targetPort }) => portNumber(objects, targetPort)) }
}

/** Returns the pods that a policy is for, by their Deployments, and the ports that it opens. */
export function openedBy(objects: ApiObject[], policy: string) {
  const { spec } = named(objects, 'NetworkPolicy', policy)
  const ports = (spec.ingress ?? []).flatMap((rule) => rule.ports.map(({ port }) => port))
  return { pods: selected(objects, spec.podSelector.matchLabels), ports }
}

export function portNumber(objects: ApiObject[], port: string | number): number | undefined {
  if (typeof port === 'number') return port
  const ports = ofKind(objects, 'Deployment').flatMap((deployment) => containerOf(deployment).ports)
  return ports.find(({ name }) => name === port)?.containerPort
}
