import type { Baseline, DiskGroup } from '../account/objects.ts'
import { asFarAsRead } from '../account/resource.ts'
import { ApiError, isFeatureMissing, type Missing, UserError } from '../domain/errors.ts'
import { inNaturalOrder } from '../domain/text.ts'
import { listFeature } from '../kit/list.ts'
import { filteredListing, type Listing } from '../slack/listing.ts'
import { code, dateTime, joinMrkdwn, type Mrkdwn, mrkdwn } from '../slack/text.ts'

export function baselineListing(all: Baseline[], words: string[], missing: Missing = {}): Listing {
  return filteredListing({
    all,
    words,
    textsOf,
    one: 'baseline',
    many: 'baselines',
    order: (a, b) => inNaturalOrder(a.name, b.name),
    row,
    none: mrkdwn`The team has no baselines.`,
    missing,
    notes: [mrkdwn`Baselines are a preview of the account API. Their content may change.`],
    rowsPerPage: 4,
  })
}

function row(baseline: Baseline): Mrkdwn {
  const created = baseline.createdAt === undefined ? undefined : Date.parse(baseline.createdAt)
  const lines = [
    mrkdwn`*${baseline.name}*  ·  ${target(baseline)}  ·  ${code(baseline.id)}`,
    ...(baseline.description ? [mrkdwn`${baseline.description}`] : []),
    ...operatingSystem(baseline),
    labelled('SSH keys', listed(baseline.sshKeys.map(sshKey), 'none')),
    labelled('User data', userData(baseline)),
    labelled('Disks', listed(baseline.diskLayout.map(diskGroup), 'as delivered')),
    labelled(
      'BIOS',
      listed(
        baseline.bios.map(({ setting, value }) => mrkdwn`${code(setting)} ${setTo(value)}`),
        'as delivered',
      ),
    ),
    ...(created === undefined || Number.isNaN(created) ? [] : [labelled('Created', dateTime(created))]),
  ]
  return joinMrkdwn(lines, '\n')
}

function labelled(label: string, words: Mrkdwn): Mrkdwn {
  return mrkdwn`*${label}:* ${words}`
}

function listed(parts: Mrkdwn[], none: string): Mrkdwn {
  return parts.length > 0 ? joinMrkdwn(parts, '; ') : mrkdwn`${none}`
}

/** Returns no line if the answer has no operating system, as in the newer shape. An empty one means any. */
function operatingSystem({ operatingSystem: slug }: Baseline): Mrkdwn[] {
  return slug === undefined ? [] : [labelled('Operating system', slug ? code(slug) : mrkdwn`any`)]
}

function target({ targetType, platforms }: Baseline): Mrkdwn {
  const names = platforms.map(({ name, slug, id }) => name ?? slug ?? id ?? 'an unnamed plan').join(', ')
  const plans = names === '' ? mrkdwn`` : mrkdwn`: ${names}`
  switch (targetType) {
    case 'all_servers':
      return mrkdwn`all servers${plans}`
    case 'custom':
      return mrkdwn`a custom set of servers${plans}`
    case 'platforms':
      return names === '' ? mrkdwn`on plans that the account API doesn't show` : mrkdwn`on ${names}`
    case undefined:
      return names === '' ? mrkdwn`target unknown` : mrkdwn`on ${names}`
    default:
      return mrkdwn`for ${code(targetType)}${plans}`
  }
}

function sshKey({ id, name, fingerprint }: Baseline['sshKeys'][number]): Mrkdwn {
  return mrkdwn`${name ?? id ?? 'unnamed'} ${fingerprint ? code(fingerprint) : mrkdwn`(no fingerprint)`}`
}

function userData({ userData: data }: Baseline): Mrkdwn {
  if (!data) return mrkdwn`none`
  return data.description ? mrkdwn`${data.description} ${code(data.id)}` : code(data.id)
}

/** `2 disks for the system, RAID 1`; `4 disks for storage, RAID 0, ext4 on /var/lib/kafka`. */
function diskGroup({ role, count, raidLevel, filesystem, mountPoint }: DiskGroup): Mrkdwn {
  const purpose = { os: 'for the system', storage: 'for storage', raw: 'raw' }[role ?? ''] ?? `for ${role ?? 'an unknown purpose'}`
  const disks = count === undefined ? 'disks' : count === 1 ? '1 disk' : `${count} disks`
  const raid = raidLevel ? raidLevel.replace(/^raid-/i, 'RAID ') : undefined
  const where = mountPoint ? mrkdwn`${filesystem ?? 'mounted'} on ${code(mountPoint)}` : filesystem ? mrkdwn`${filesystem}` : undefined
  return joinMrkdwn([mrkdwn`${disks} ${purpose}`, ...(raid ? [mrkdwn`${raid}`] : []), ...(where ? [where] : [])], ', ')
}

function setTo(value: string): Mrkdwn {
  if (value === 'true') return mrkdwn`on`
  if (value === 'false') return mrkdwn`off`
  return value.length > 40 || /[{[]/.test(value) ? code(value) : mrkdwn`${value}`
}

/** Returns the texts as the account API sends them, for the search, and not as they are shown here. */
function textsOf({ id, name, description, targetType, operatingSystem, userData: data, createdAt, ...lists }: Baseline): unknown[] {
  const { platforms, sshKeys, diskLayout, bios } = lists
  const listed = [data ?? {}, ...platforms, ...sshKeys, ...diskLayout, ...bios].flatMap((part) => Object.values(part))
  return [id, name, description, targetType, operatingSystem, createdAt, ...listed]
}

/** `/infra baselines`: lists the configurations that servers are expected to be delivered with. */
export const listBaselines = listFeature({
  words: 'baselines',
  usage: '[word…]',
  group: 'View',
  summary: 'Expected configuration of delivered servers',
  details: mrkdwn`Shows plans, operating system, SSH keys, user data, disks and BIOS. All words must match. A preview: the team needs the feature flag ${code('baselines_api')}.`,
  examples: ['kafka', 'raid-1'],
  list: async (app, { args }) => {
    try {
      const { items, ...missing } = await asFarAsRead(app.lists.baselines())
      return baselineListing(items, args, missing)
    } catch (error) {
      // Teams without the feature flag may also get a 404. Any other 403 is about the key.
      if (isFeatureMissing(error) || (error instanceof ApiError && error.status === 404)) throw new UserError(noBaselines)
      throw error
    }
  },
})

const noBaselines =
  "Baselines are a preview and aren't enabled for this team (feature flag baselines_api). Ask the provider's support to enable them."
