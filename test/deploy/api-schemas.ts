import { ServiceMonitor } from '@kubernetes-models/prometheus-operator/monitoring.coreos.com/v1/ServiceMonitor'
import { Deployment } from 'kubernetes-models/apps/v1/Deployment'
import { Ingress } from 'kubernetes-models/networking.k8s.io/v1/Ingress'
import { NetworkPolicy } from 'kubernetes-models/networking.k8s.io/v1/NetworkPolicy'
import { PodDisruptionBudget } from 'kubernetes-models/policy/v1/PodDisruptionBudget'
import { ConfigMap } from 'kubernetes-models/v1/ConfigMap'
import { Namespace } from 'kubernetes-models/v1/Namespace'
import { Service } from 'kubernetes-models/v1/Service'
import type { ApiObject } from './api-objects.ts'

interface Model {
  apiVersion: string
  kind: string
  prototype: { validate(): void }
}

const models: Model[] = [ConfigMap, Deployment, Ingress, Namespace, NetworkPolicy, PodDisruptionBudget, Service, ServiceMonitor]

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
