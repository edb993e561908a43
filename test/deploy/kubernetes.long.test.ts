import { join } from 'node:path'
import { expect, test } from 'vitest'
import { unpackPackage } from './debian-package.ts'
import { type ApiObject, type Folder, folders, ofKind, renderAll } from './kubernetes.ts'

/** Returns the objects without what versions do differently: the order, the hashes in names, and empty fields. */
function comparable(objects: ApiObject[]) {
  let text = JSON.stringify(objects)
  for (const { metadata } of ofKind(objects, 'ConfigMap')) text = text.replaceAll(metadata.name, metadata.name.replace(/-\w{10}$/, ''))
  const sorted = (JSON.parse(text) as ApiObject[]).toSorted((a, b) => keyOf(a).localeCompare(keyOf(b)))
  return sorted.map(({ metadata, ...others }) => ({
    ...others,
    metadata: Object.fromEntries(Object.entries(metadata).filter(([, value]) => Object.keys(value).length > 0)),
  }))
}

const keyOf = ({ kind, metadata }: ApiObject) => `${kind} ${metadata.name}`

test("Debian's kubectl renders the same manifests as the one of this machine", async () => {
  const debian = await renderAll(join(await unpackPackage('kubernetes-client'), 'usr/bin/kubectl'))
  const here = await renderAll()

  for (const folder of Object.keys(folders) as Folder[]) expect(comparable(debian[folder])).toEqual(comparable(here[folder]))
}, 300_000)
