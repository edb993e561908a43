/**
 * Disks of one purpose. `role` is `os`, `storage` or `raw`, `raidLevel` is `raid-0` or `raid-1`, and `filesystem` is `ext4`. These sets are
 * open.
 */
export interface DiskGroup {
  role: string | undefined
  count: number | undefined
  raidLevel: string | undefined
  filesystem: string | undefined
  mountPoint: string | undefined
}

/**
 * The configuration that servers are expected to be delivered with (interface specification, "Baseline"). It is a preview, so its shape may
 * change.
 */
export interface Baseline {
  id: string
  /** The id if the account API shows no name. */
  name: string
  description: string | undefined
  /** One of an open set: `all_servers`, `custom` or `platforms`. Absent in the newer shape, which has a `plan` instead. */
  targetType: string | undefined
  /** The slug of the expected operating system. Null: any. Undefined: the account API does not say. */
  operatingSystem: string | null | undefined
  /** The plans that the baseline applies to: `platforms`, or `plan` in the newer shape. */
  platforms: { id: string | undefined; name: string | undefined; slug: string | undefined }[]
  sshKeys: { id: string | undefined; name: string | undefined; fingerprint: string | undefined }[]
  userData: { id: string; description: string | undefined } | undefined
  diskLayout: DiskGroup[]
  /** Each value as text, because the specification does not show the types of the values. */
  bios: { setting: string; value: string }[]
  createdAt: string | undefined
}
