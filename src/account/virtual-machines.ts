import { z } from 'zod'
import type { VirtualMachine } from '../domain/account.ts'
import { loose, Named, shown, text, toNamed, toNumber, toProject, toText } from './fields.ts'
import type { CallOptions, Http, WriteOptions } from './http.ts'
import { pathTo, readPages, resourceKind } from './resource.ts'

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
    operatingSystem: system ? shown(system) : undefined,
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

export function virtualMachinesResource(http: Http) {
  return {
    /**
     * Lists virtual machines, page by page (vendor's OpenAPI document, "GET /virtual_machines"; not in the interface specification
     * 2023-06-01). Never requests or reads their credentials.
     */
    async list({ signal }: CallOptions = {}): Promise<VirtualMachine[]> {
      const request = { operation: 'virtualMachines.list', path: '/virtual_machines', hasTotal: true, signal }
      return readPages(http, virtualMachine, request)
    },

    /**
     * Reads one virtual machine (vendor's OpenAPI document, "GET /virtual_machines/{virtual_machine_id}"; not in the interface
     * specification 2023-06-01).
     * ApiError: 404 for an unknown machine.
     */
    async get(id: string, { signal }: CallOptions = {}): Promise<VirtualMachine> {
      const path = pathTo('/virtual_machines', id)
      return http.call({ operation: 'virtualMachines.get', method: 'GET', path, signal, read: virtualMachine.one })
    },

    /**
     * Renames a virtual machine (interface specification 2023-06-01, "PATCH /virtual_machines/{virtual_machine_id}"). Returns the machine
     * with its new name; the answer may omit most other fields. The same operation can resize the machine, change its billing or replace
     * its tags. So the body is written out here and takes only the name from callers.
     * ApiError: 404 for an unknown machine; 409: a resize is running.
     */
    async rename(id: string, name: string, options: WriteOptions = {}): Promise<VirtualMachine> {
      const body = { data: { type: 'virtual_machines', id, attributes: { name } } }
      const path = pathTo('/virtual_machines', id)
      return http.call({ operation: 'virtualMachines.rename', method: 'PATCH', path, body, ...options, read: virtualMachine.one })
    },
  }
}
