// One box that finds any id, key, name, or value of a param.

import { html, nothing } from 'lit';
import { change, get, query, segment } from './http.js';
import { taskStatus } from './format.js';
import { namedLocks } from './machines.js';
import { paramsFilter } from './queues.js';
import { View, brief, define, empty, head, link, status, table } from './view.js';

/** The most things of a kind that are shown. */
const MOST = 50;

/** Those of a list that is read whole with a part of a text. */
const having = (text, all, textOf) => all.filter(one => textOf(one).toLowerCase().includes(text.toLowerCase()));

const heldBy = lock => (lock.holder ? `held by ${lock.holder}` : 'held by nobody');

const foundJob = job => ({ kind: 'job', link: link(['jobs', job.id], job.display ?? job.key), state: job.status, what: job.type ?? '' });

/** Every place where the text may be; each search gives `{kind, link, state, what}`, and none if it is refused. */
const SEARCHES = [
  async text => {
    if (!/^[0-9a-f]{24}$/.test(text)) return [];
    const task = await get(`dci/tasks/id/${text}`);
    return [{ kind: 'task', link: link(['tasks', text], text), state: taskStatus(task.status), what: brief(task.params) }];
  },
  async text => [foundJob(await get(`api/jobs/${segment(text)}`))],
  async text =>
    (await get(`api/jobs${query({ text, order: 'newest', limit: MOST })}`))
      .filter(job => job.id !== text && job.key !== text)
      .map(foundJob),
  async text => {
    if (!/^\d+$/.test(text)) return [];
    const node = await get(`v1/nodes/${text}`);
    return [{ kind: 'graph node', link: link(['graph', node.id], node.name ?? node.id), state: node.state, what: node.type }];
  },
  async text => {
    if (!/^\d+$/.test(text)) return [];
    const task = await get(`store/task/~${text}`).catch(() => get(`store/task/${text}`));
    return [{ kind: 'task of the store', link: link(['store', task.group], task.group), state: task.state, what: brief(task.data) }];
  },
  async text =>
    having(text, await get('dci/queues'), queue => `${queue.id} ${queue.name}`)
      .map(queue => ({ kind: 'queue', link: link(['queues', queue.id], queue.name), state: queue.halted ? 'halted' : 'ok', what: queue.plugin })),
  async text =>
    (await get(`schedules${query({ text, limit: MOST })}`)).schedules
      .map(schedule => ({ kind: 'schedule', link: link(['schedules', schedule.name], schedule.name), state: schedule.paused ? 'paused' : 'active', what: brief(schedule.target) })),
  async text =>
    having(text, await get('api/workers'), worker => `${worker.id} ${worker.name}`)
      .map(worker => ({ kind: 'worker', link: link(['workers', worker.id], worker.name), state: worker.state, what: worker.type ?? '' })),
  async text => {
    const nodes = await get(`v1/nodes${query({ text, metadata: 'name,state,type' })}`);
    return (nodes.nodes ?? nodes)
      .filter(node => node.id !== text)
      .map(node => ({ kind: 'graph node', link: link(['graph', node.id], node.name ?? node.id), state: node.state, what: node.type }));
  },
  async text =>
    having(text, (await get('limits')).limits, limit => limit.name)
      .map(limit => ({ kind: 'limit', link: link(['limits'], limit.name, { text: limit.name }), state: limit.running !== null && limit.used >= limit.running ? 'limit reached' : 'ok', what: `${limit.used} of ${limit.running ?? 'any number'} used` })),
  async text =>
    having(text, await get('store/summary'), group => group.group)
      .map(({ group, waiting, delayed, owned }) => ({ kind: 'group of the store', link: link(['store', group], group), state: waiting ? 'waiting' : owned ? 'owned' : 'delayed', what: `${waiting} waiting, ${delayed} delayed, ${owned} owned` })),
  async text => {
    if (!/^\d+$/.test(text)) return [];
    const batch = await get(`api/batches/${text}`);
    return [{ kind: 'batch', link: link(['batches', batch.id], batch.id), state: batch.full ? 'full' : 'filling', what: `${batch.size} of ${batch.capacity} jobs ${batch.type ? `of ${batch.type}` : ''}` }];
  },
  async text =>
    having(text, (await get('cluster')).partitions, partition => `${partition.id} ${partition.holder ?? ''}`)
      .map(partition => ({ kind: 'partition', link: link(['cluster'], partition.id, { 'partitions-text': partition.id }), state: partition.state, what: heldBy(partition) })),
  async text =>
    having(text, namedLocks(await get('cluster/locks')), lock => `${lock.id} ${lock.holder ?? ''}`)
      .map(lock => ({ kind: 'lock', link: link(['cluster'], lock.id, { 'locks-text': lock.id }), state: lock.holder ? 'owned' : 'free', what: heldBy(lock) })),
  async text => {
    const filter = paramsFilter(text.replace(/^params\./, ''));
    const tasks = await change('POST', 'dci/tasks/search', { filter, options: { limit: MOST, sort: { _id: -1 } } });
    return tasks.map(task => ({ kind: 'task', link: link(['tasks', task._id.$oid], task._id.$oid), state: taskStatus(task.status), what: brief(task.params) }));
  },
  async text =>
    having(text, await get('access/principals'), principal => principal.name)
      .map(principal => ({ kind: 'principal', link: link(['access', principal.name], principal.name), state: principal.disabled ? 'paused' : 'active', what: principal.note })),
];

class Search extends View {
  interval = 3_600_000;

  async load() {
    const text = this.route.parameters.text ?? '';
    const problems = new Set();
    const found = await Promise.all(SEARCHES.map(search => search(text).catch(failure => {
      // Most searches for an id find nothing, and what the user may not see is left out.
      if (!(failure.status >= 400 && failure.status < 500)) problems.add(failure.message);
      return [];
    })));
    return { text, problems, found: found.flatMap(some => some.slice(0, MOST)), more: found.some(some => some.length >= MOST) };
  }

  content() {
    const { text, problems, found, more } = this.data;
    return html`
      ${head(html`Search for “${text}”`)}
      ${[...problems].map(problem => html`<p class="banner bad" role="alert">Not everything was searched: ${problem}</p>`)}
      ${table(
        [
          { title: 'What', value: one => one.kind },
          { title: 'Name or id', value: one => one.link },
          { title: 'State', value: one => status(one.state) },
          { title: 'Details', kind: 'wide', value: one => one.what },
        ],
        found,
        { caption: 'Found', none: empty('Nothing found', 'The search takes an id, a part of a key, of a description, of a name, of a param of a task or of what a graph node was given, or NAME=VALUE for a param.') })}
      ${more ? html`<p class="calm">Of each kind, up to ${MOST} are shown.</p>` : nothing}
    `;
  }
}

define('millrace-search', Search);
