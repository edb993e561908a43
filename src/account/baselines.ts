import { z } from 'zod'
import type { Baseline, DiskGroup } from '../domain/account.ts'
import { loose, Named, shown, text, toNamed, toNumber, toText } from './fields.ts'
import type { CallOptions, Http } from './http.ts'
import { readList, resourceKind } from './resource.ts'

const DiskGroupResponse = z.object({ role: text, count: loose, raid_level: text, filesystem: text, mount_point: text })

/**
 * Accepts both shapes of this preview: that of the interface specification, and that of newer SDKs, which have `plan` and no `target_type`,
 * `operating_system` and `platforms`.
 */
export const BaselineResponse = z.object({
  id: z.string(),
  attributes: z.object({
    name: text,
    description: text,
    target_type: text,
    operating_system: text,
    platforms: z.array(Named).nullish(),
    plan: Named.nullish(),
    ssh_keys: z.array(z.object({ id: text, name: text, fingerprint: text })).nullish(),
    user_data: z.object({ id: text, description: text }).nullish(),
    disk_layout: z.array(DiskGroupResponse).nullish(),
    bios: z.record(z.string(), z.unknown()).nullish(),
    created_at: text,
  }),
})

const baseline = resourceKind(BaselineResponse, ({ id, attributes }): Baseline => {
  const wire = shown(attributes)
  const { id: userDataId, description } = wire.user_data ? shown(wire.user_data) : {}
  return {
    id,
    name: wire.name ?? id,
    description: wire.description,
    targetType: wire.target_type,
    operatingSystem: attributes.operating_system,
    platforms: toPlans(attributes),
    sshKeys: wire.ssh_keys?.map(shown) ?? [],
    userData: userDataId ? { id: userDataId, description } : undefined,
    diskLayout: wire.disk_layout?.map(toDiskGroup) ?? [],
    bios: Object.entries(wire.bios ?? {}).map(([setting, value]) => ({ setting, value: toText(value) ?? JSON.stringify(value) })),
    createdAt: wire.created_at,
  }
})

function toDiskGroup(wire: z.infer<typeof DiskGroupResponse>): DiskGroup {
  const { role, count, raid_level: raidLevel, filesystem, mount_point: mountPoint } = shown(wire)
  return { role, count: toNumber(count), raidLevel, filesystem, mountPoint }
}

function toPlans({ platforms, plan }: z.infer<typeof BaselineResponse>['attributes']): Baseline['platforms'] {
  const plans = platforms?.map(toNamed) ?? []
  const isListed = plans.some(({ id }) => id !== undefined && id === plan?.id)
  return plan && !isListed ? [...plans, toNamed(plan)] : plans
}

export function baselinesResource(http: Http) {
  return {
    /**
     * Lists all baselines of the team (interface specification 2023-06-01, "GET /baselines", a preview). Times are ISO 8601 strings.
     * ApiError: 403 FEATURE_NOT_ENABLED: the team lacks the feature flag `baselines_api`.
     */
    async list({ signal }: CallOptions = {}): Promise<Baseline[]> {
      return readList(http, baseline, { operation: 'baselines.list', path: '/baselines', signal })
    },
  }
}
