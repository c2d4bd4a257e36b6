// Finished work that has left the store.

import { html, nothing } from 'lit';
import { get, query } from './http.js';
import { duration, millis, taskStatus } from './format.js';
import {
  View, commandLine, define, empty, field, head, pager, select, status, table, tabs,
  time,
} from './view.js';

const COLUMNS = {
  tasks: [
    { title: 'Task', value: task => html`<code>${task.id}</code>` },
    { title: 'Queue', value: task => task.queue },
    { title: 'Status', value: task => status(taskStatus(task.status)) },
    { title: 'Node', value: task => task.node ?? nothing },
    { title: 'Finished', value: task => time(task.finished) },
  ],
  jobs: [
    { title: 'Job', value: job => html`<code>${job.id}</code>` },
    { title: 'Type', value: job => job.type ?? nothing },
    { title: 'Status', value: job => status(job.status) },
    { title: 'Worker', value: job => job.worker ?? nothing },
    { title: 'Finished', value: job => time(job.finished) },
    { title: 'Took', kind: 'number', value: job => (job.started ? duration(millis(job.finished) - millis(job.started)) : nothing) },
  ],
};

class Archive extends View {
  async load() {
    const { kind = 'tasks', queue, type, status: wanted, since, until, after, order } = this.route.parameters;
    const filters = kind === 'jobs' ? { type } : { queue };
    return { kind, ...(await get(`archive/${kind}${query({ ...filters, status: wanted, since, until, order, after, limit: 50 })}`)) };
  }

  content() {
    const { kind, next } = this.data;
    const parameters = this.route.parameters;
    return html`
      ${head('Archive')}
      ${tabs(this, 'kind', [['', 'Tasks'], ['jobs', 'Jobs']])}
      <div class="filters">
        ${kind === 'jobs'
          ? field('Type', parameters.type, type => this.filter({ type }))
          : field('Queue', parameters.queue, queue => this.filter({ queue }))}
        ${select('Status', parameters.status, kind === 'jobs' ? [['', 'any'], ['done', 'done'], ['failed', 'failed']] : [['', 'any'], ['1', 'succeeded'], ['2', 'failed']], status => this.filter({ status }))}
        ${field('Since', parameters.since, since => this.filter({ since }), '2026-12-01T00:00:00Z')}
        ${field('Before', parameters.until, until => this.filter({ until }), '2026-12-02T00:00:00Z')}
      </div>
      ${table(COLUMNS[kind], this.data[kind], {
        caption: 'Archived work',
        none: empty('Nothing archived', 'Finished tasks and jobs come here when they leave the store, by age or number.'),
      })}
      ${pager(this, next)}
      ${commandLine(`./millrace archive list ${kind}`)}
    `;
  }
}

define('millrace-archive', Archive);
