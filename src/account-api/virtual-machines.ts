import { z } from 'zod'
import type { VirtualMachine } from '../domain/virtual-machine.ts'
import type { CallOptions, WriteOptions } from './call.ts'
import { loose, Named, text, toNamed, toNumber, toProject, toText } from './fields.ts'
import type { Http } from './http.ts'
import { readPages } from './pages.ts'
import { pathTo } from './path.ts'
import { type ReportSkipped, resourceKind } from './resource-kind.ts'

export const VirtualMachineResponse = z.object({
  id: z.string(),
  attributes: z.object({
    name: text,
    status: text,
    created_at: text,
    primary_ipv4: text,
    site: text,
    billing: text,
    operating_system: z.object({ name: text, slug: text, version: text }).nullish(),
    plan: Named.nullish(),
    specs: z.object({ vcpu: loose, ram: loose, storage: loose, nic: loose, gpu: loose }).nullish(),
    project: Named.nullish(),
    pending_restart: z.boolean().nullish(),
  }),
})

const virtualMachine = resourceKind(VirtualMachineResponse, ({ id, attributes: wire }): VirtualMachine => {
  const system = wire.operating_system
  return {
    id,
    name: wire.name || undefined,
    status: wire.status ?? undefined,
    createdAt: wire.created_at ?? undefined,
    primaryIpv4: wire.primary_ipv4 || undefined,
    site: wire.site || undefined,
    billing: wire.billing ?? undefined,
    operatingSystem: system
      ? { name: system.name ?? undefined, slug: system.slug ?? undefined, version: system.version ?? undefined }
      : undefined,
    plan: wire.plan ? toNamed(wire.plan) : undefined,
    specs: {
      vcpuCount: toNumber(wire.specs?.vcpu),
      ram: toText(wire.specs?.ram),
      storage: toText(wire.specs?.storage),
      nic: toText(wire.specs?.nic),
      gpu: toText(wire.specs?.gpu),
    },
    project: toProject(wire.project),
    pendingRestart: wire.pending_restart ?? undefined,
  }
})

export function virtualMachinesResource(http: Http, reportSkipped: ReportSkipped) {
  return {
    async list({ projectId, signal }: CallOptions & { projectId?: string | undefined } = {}): Promise<VirtualMachine[]> {
      const query = { 'filter[project]': projectId }
      return readPages(http, virtualMachine, { operation: 'virtualMachines.list', path: '/virtual_machines', query, signal }, reportSkipped)
    },

    async get(id: string, { signal }: CallOptions = {}): Promise<VirtualMachine> {
      const path = pathTo('/virtual_machines', id)
      return http.call({ operation: 'virtualMachines.get', method: 'GET', path, signal, read: virtualMachine.one })
    },

    /**
     * Changes the display name (interface specification, "PATCH /virtual_machines/{virtual_machine_id}"). The same operation would
     * resize the machine, change its billing or replace its tags, so the body is written out here and takes nothing from callers.
     */
    async rename(id: string, name: string, { signal, onAnswer }: WriteOptions = {}): Promise<VirtualMachine> {
      return http.call({
        operation: 'virtualMachines.rename',
        method: 'PATCH',
        path: pathTo('/virtual_machines', id),
        body: { data: { type: 'virtual_machines', id, attributes: { name } } },
        signal,
        onAnswer,
        read: virtualMachine.one,
      })
    },
  }
}
