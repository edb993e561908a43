/** What may be requested. The names are public: `NO_APPROVAL` and policies use them. */
export const changeKinds = ['vm.rename', 'ip.move', 'key.create', 'key.rotate', 'key.revoke'] as const
export type ChangeKind = (typeof changeKinds)[number]

/** Each kind in words, after *ask for* and *may*: `moving an Elastic IP`. */
export const kindWords: Record<ChangeKind, string> = {
  'vm.rename': 'renaming a virtual machine',
  'ip.move': 'moving an Elastic IP',
  'key.create': 'a new API key',
  'key.rotate': 'rotating an API key',
  'key.revoke': 'revoking an API key',
}
