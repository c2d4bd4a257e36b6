// One box that finds any id, key, name, or value of a param.

import { html, nothing } from 'lit';
import { change, get, query, segment } from './http.js';
import { taskStatus } from './format.js';
import { paramsFilter } from './queues.js';
import { View, brief, define, empty, head, link, status, table } from './view.js';

const none = () => [];

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
    (await get(`api/jobs${query({ text, order: 'newest', limit: 50 })}`))
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
  async text => {
    const wanted = text.toLowerCase();
    return (await get('dci/queues'))
      .filter(queue => queue.id === text || queue.name.toLowerCase().includes(wanted))
      .map(queue => ({ kind: 'queue', link: link(['queues', queue.id], queue.name), state: queue.halted ? 'halted' : 'ok', what: queue.plugin }));
  },
  async text => {
    const { schedules } = await get(`schedules${query({ limit: 1000 })}`);
    return schedules
      .filter(schedule => JSON.stringify([schedule.name, schedule.target]).toLowerCase().includes(text.toLowerCase()))
      .slice(0, 50)
      .map(schedule => ({ kind: 'schedule', link: link(['schedules', schedule.name], schedule.name), state: schedule.paused ? 'paused' : 'active', what: brief(schedule.target) }));
  },
  async text =>
    (await get('api/workers'))
      .filter(worker => `${worker.id} ${worker.name}`.toLowerCase().includes(text.toLowerCase()))
      .slice(0, 50)
      .map(worker => ({ kind: 'worker', link: link(['workers', worker.id], worker.name), state: worker.state, what: worker.type ?? '' })),
  async text => {
    const nodes = await get(`v1/nodes${query({ metadata: 'name,state,type' })}`);
    return (nodes.nodes ?? nodes)
      .filter(node => node.name?.toLowerCase().includes(text.toLowerCase()))
      .slice(0, 50)
      .map(node => ({ kind: 'graph node', link: link(['graph', node.id], node.name), state: node.state, what: node.type }));
  },
  async text => {
    const filter = paramsFilter(text.replace(/^params\./, ''));
    const tasks = await change('POST', 'dci/tasks/search', { filter, options: { limit: 50, sort: { _id: -1 } } });
    return tasks.map(task => ({ kind: 'task', link: link(['tasks', task._id.$oid], task._id.$oid), state: taskStatus(task.status), what: brief(task.params) }));
  },
  async text =>
    (await get('access/principals'))
      .filter(principal => principal.name.toLowerCase().includes(text.toLowerCase()))
      .map(principal => ({ kind: 'principal', link: link(['access', principal.name], principal.name), state: principal.disabled ? 'paused' : 'active', what: principal.note })),
];

class Search extends View {
  interval = 3_600_000;

  async load() {
    const text = this.route.parameters.text ?? '';
    const found = await Promise.all(SEARCHES.map(search => search(text).catch(none)));
    return { text, found: found.flat() };
  }

  content() {
    const { text, found } = this.data;
    return html`
      ${head(html`Search for “${text}”`)}
      ${table(
        [
          { title: 'What', value: one => one.kind },
          { title: 'Name or id', value: one => one.link },
          { title: 'State', value: one => status(one.state) },
          { title: 'Details', kind: 'wide', value: one => one.what },
        ],
        found,
        { caption: 'Found', none: empty('Nothing found', 'The search takes an id, a part of a key, of a description, of a name or of a param of a task, or NAME=VALUE for a param.') })}
    `;
  }
}

define('millrace-search', Search);
