import { execFile } from 'node:child_process'
import { resolve } from 'node:path'
import { promisify } from 'node:util'
import { parseAllDocuments } from 'yaml'
import { findOrInstall } from '../sandbox/programs.ts'
import type { ApiObject } from './api-objects.ts'

/** The folders of manifests: those that people use, and those of the tests, which have everything that can be added. */
export const folders = {
  http: 'deploy/kubernetes/overlays/http',
  socketMode: 'deploy/kubernetes/overlays/socket-mode',
  example: 'deploy/kubernetes/example',
  everythingHttp: 'test/deploy/everything/http',
  everythingSocketMode: 'test/deploy/everything/socket-mode',
}
export type Folder = keyof typeof folders

/** Returns the path of kubectl. Installs it first if that needs no permission. Throws with advice if there is none. */
export function findKubectl(): Promise<string> {
  return findOrInstall({
    names: ['kubectl'],
    packages: ['kubernetes-client'],
    missing: 'There is no kubectl on this machine, which renders deploy/kubernetes/.',
    advice:
      'There is no kubectl on this machine. Install it (Debian: kubernetes-client, macOS: brew install kubectl) and run the command again.',
  })
}

/** Renders a folder as `kubectl apply -k` would send it. */
export async function render(folder: Folder, kubectl?: string): Promise<ApiObject[]> {
  const path = resolve(import.meta.dirname, '../..', folders[folder])
  const { stdout } = await promisify(execFile)(kubectl ?? (await findKubectl()), ['kustomize', path])
  return parseAllDocuments(stdout).map((document) => document.toJS())
}

/** Renders all folders. */
export async function renderAll(kubectl?: string): Promise<Record<Folder, ApiObject[]>> {
  const names = Object.keys(folders) as Folder[]
  const rendered = await Promise.all(names.map(async (name) => [name, await render(name, kubectl)] as const))
  return Object.fromEntries(rendered) as Record<Folder, ApiObject[]>
}
