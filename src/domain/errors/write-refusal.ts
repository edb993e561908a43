/** Why Redis refuses to store anything although it answers. `why` is a clause, `fix` a sentence for operators. */
export interface WriteRefusal {
  code: 'OOM' | 'MISCONF' | 'NOREPLICAS'
  why: string
  fix: string
}

const refusals: WriteRefusal[] = [
  { code: 'OOM', why: 'its memory is full', fix: 'Raise maxmemory, or remove data that other programs store there.' },
  { code: 'MISCONF', why: "it can't write to its disk", fix: 'Free space on its disk, and read its log.' },
  { code: 'NOREPLICAS', why: 'too few of its replicas are connected', fix: 'Bring the replicas back.' },
]

/** Finds what the code of an error of Redis says about its writes. Undefined if Redis gave no answer, or refused for another reason. */
export function writeRefusalOf(code: string | undefined): WriteRefusal | undefined {
  return refusals.find((each) => each.code === code)
}

/** Says that Redis stores nothing, and why: `Redis refuses writes, because its memory is full (OOM).` */
export function refusesWrites({ code, why }: WriteRefusal): string {
  return `Redis refuses writes, because ${why} (${code}).`
}
