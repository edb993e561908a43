/** Disks of one purpose. Open sets: `role` is `os`, `storage` or `raw`, `raidLevel` `raid-0` or `raid-1`, `filesystem` `ext4`. */
export interface DiskGroup {
  role: string | undefined
  count: number | undefined
  raidLevel: string | undefined
  filesystem: string | undefined
  mountPoint: string | undefined
}

/** What servers are expected to be delivered with (interface specification, "Baseline"; a preview whose shape may change). */
export interface Baseline {
  id: string
  /** The id where the account API tells no name. */
  name: string
  description: string | undefined
  /** `all_servers`, `custom` or `platforms`; an open set. A newer shape has none. */
  targetType: string | undefined
  /** Slug of the expected operating system. */
  operatingSystem: string | undefined
  /** The plans it applies to; where there is a `targetType`, only when that is `platforms`. */
  platforms: { id: string | undefined; name: string | undefined; slug: string | undefined }[]
  sshKeys: { id: string | undefined; name: string | undefined; fingerprint: string | undefined }[]
  userData: { id: string; description: string | undefined } | undefined
  diskLayout: DiskGroup[]
  /** Value types are not shown in the specification, so each is given as text. */
  bios: { setting: string; value: string }[]
  createdAt: string | undefined
}
