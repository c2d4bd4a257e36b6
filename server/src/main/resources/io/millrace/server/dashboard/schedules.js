// Schedules: what runs when.

import { html, nothing } from 'lit';
import { change, get, query, segment } from './http.js';
import { count, duration, millis, moment, zoned } from './format.js';
import {
  View, ask, attempt, brief, button, commandLine, define, edit, empty, facts, field, head, json, link, notify, pager, quoted,
  select, status, table, time,
} from './view.js';

const path = name => `schedules/${segment(name)}`;

const timesOf = schedule =>
  schedule.times.map(one => one.cron ?? (one.every ? `every ${one.every}` : `at ${one.at}`)).join(' · ');

const targetOf = ({ target }) =>
  target.queue !== undefined
    ? `task of ${target.queue}`
    : target.job !== undefined
      ? `job${target.job?.type ? ` of ${target.job.type}` : ''}`
      : target.graph !== undefined
        ? 'graph'
        : 'run';

const FORM = `{
  "times": [{"cron": "30 2 * * *"}],
  "zone": "${Intl.DateTimeFormat().resolvedOptions().timeZone}",
  "target": {"queue": "QUEUE", "params": {"command": "date"}}
}`;

const FIELDS = ['description', 'times', 'except', 'zone', 'jitter', 'missed', 'window', 'overlap', 'pause_after_failures', 'target'];

const put = (view, name, text) =>
  edit(
    name ? `Change ${name}` : 'New schedule',
    [
      ...(name ? [] : [{ name: 'name', label: 'Name', required: true }]),
      { name: 'text', label: 'Schedule (JSON)', kind: 'area', rows: 14, value: text, required: true, help: 'times, zone, except, jitter, missed, overlap, target' },
    ],
    async values => {
      let body;
      try {
        body = JSON.parse(values.text);
      } catch (failure) {
        throw new Error(`This is not JSON: ${failure.message}`);
      }
      await change('PUT', path(name ?? values.name), body);
      if (!name) location.hash = `#/schedules/${segment(values.name)}`;
      view.reload();
    });

const state = schedule =>
  schedule.paused ? html`<span title=${schedule.paused.note ?? ''}>${status('paused')}</span>` : status(schedule.due ? 'active' : 'over');

class Schedules extends View {
  async load() {
    const { text, paused, order, after } = this.route.parameters;
    return get(`schedules${query({ text, paused, order, after, limit: 100 })}`);
  }

  content() {
    const { schedules, next } = this.data;
    const { text, paused, order } = this.route.parameters;
    const any = text || paused;
    return html`
      ${head('Schedules', { actions: button('New schedule', () => put(this, null, FORM), { kind: '' }) })}
      <div class="filters">
        ${field('Text', text, text => this.filter({ text }), 'a name, queue, type or param')}
        ${select('Paused', paused, [['', 'with'], ['true', 'only'], ['false', 'without']], paused => this.filter({ paused }))}
        ${select('Order', order, [['', 'by name'], ['due', 'due next']], order => this.filter({ order }))}
      </div>
      ${table(
        [
          { title: 'Schedule', value: schedule => link(['schedules', schedule.name], schedule.name) },
          { title: 'State', value: state },
          { title: 'Times', value: schedule => html`<code>${timesOf(schedule)}</code>` },
          { title: 'Zone', value: schedule => schedule.zone },
          { title: 'Runs', value: targetOf },
          { title: 'Next', value: schedule => time(schedule.due) },
          { title: 'Succeeded', kind: 'number', value: schedule => count(schedule.counts.succeeded) },
          { title: 'Failed', kind: 'number', value: schedule => (schedule.counts.failed ? html`<strong class="bad">${count(schedule.counts.failed)}</strong>` : 0) },
          { title: 'Missed', kind: 'number', value: schedule => count(schedule.counts.missed) },
        ],
        schedules,
        {
          caption: 'Schedules',
          none: any ? empty('None of them has that') : empty('No schedules', 'A schedule runs a task, a job or a graph at times: by a cron expression, at an interval, or from a list.', "./millrace schedules create nightly --cron '30 2 * * *' --queue mail command=date"),
        },
      )}
      ${pager(this, next)}
      ${commandLine(`./millrace schedules list${text ? ` --text ${quoted(text)}` : ''}${order ? ` --order ${order}` : ''}${paused ? (paused === 'true' ? ' --paused' : ' --no-paused') : ''}`)}
    `;
  }
}

const runLink = (schedule, run) => {
  if (!run.id) return nothing;
  if (schedule.target.queue !== undefined) return link(['tasks', run.id], run.id.slice(0, 12));
  if (schedule.target.job !== undefined) return link(['jobs', run.id], run.id.slice(0, 13));
  return link(['graph', run.id], run.id);
};

class Schedule extends View {
  async load() {
    return get(path(this.route.path[1]));
  }

  content() {
    const schedule = this.data;
    const name = schedule.name;
    const act = (verb, body, done) => async () => {
      await attempt(() => change('POST', `${path(name)}/${verb}`, body), done);
      this.reload();
    };
    return html`
      ${head(name, {
        above: [[['schedules'], 'Schedules']],
        note: html`${state(schedule)} ${schedule.paused?.note ? html`<span>${schedule.paused.note}</span>` : nothing} ${schedule.description ? html`<p>${schedule.description}</p>` : nothing}`,
        actions: html`
          ${button('Run now', act('run', undefined, 'Started'), { kind: '' })}
          ${schedule.paused
            ? button('Resume', act('resume', undefined, 'Resumed'))
            : button('Pause', () => edit(`Pause ${name}`, [{ name: 'note', label: 'Note', help: 'Why, for others.' }], async values => {
                await change('POST', `${path(name)}/pause`, values.note ? { note: values.note } : {});
                notify(`${name} is paused`, 'good', () => attempt(() => change('POST', `${path(name)}/resume`), 'Undone'));
                this.reload();
              }, { yes: 'Pause' }))}
          ${button('Backfill', () => edit(`Run past times of ${name}`, [
            { name: 'from', label: 'From', placeholder: '2026-12-01T00:00:00Z', required: true },
            { name: 'until', label: 'Until', placeholder: '2026-12-02T00:00:00Z', required: true },
          ], async values => {
            await change('POST', `${path(name)}/backfill`, values);
            this.reload();
          }, { yes: 'Run them', text: 'Times that had their run already are left out.' }))}
          ${button('Change', () => put(this, name, JSON.stringify(Object.fromEntries(FIELDS.filter(key => schedule[key] !== undefined).map(key => [key, schedule[key]])), null, 2)))}
          ${button('Delete', async () => {
            if (!(await ask(`Delete the schedule ${name}?`, 'Runs that have begun go on.', 'Delete'))) return;
            if (await attempt(() => change('DELETE', path(name)), `${name} is deleted`)) location.hash = '#/schedules';
          }, { kind: 'danger' })}
        `,
      })}
      ${facts([
        ['Times', html`<code>${timesOf(schedule)}</code>`],
        ['Except', schedule.except?.length ? brief(JSON.stringify(schedule.except)) : null],
        ['Zone', schedule.zone],
        ['Next', schedule.due && html`${zoned(schedule.due)} · ${time(schedule.due)}`],
        ['If missed', schedule.missed === 'all' ? `all within ${schedule.window}` : schedule.missed],
        ['If one still runs', schedule.overlap.replace('_', ' ')],
        ['Jitter', schedule.jitter === '0s' ? null : schedule.jitter],
        ['Pauses after failures', schedule.pause_after_failures || null],
        ['Failures in a row', schedule.failures_in_row || null],
        ['Started', count(schedule.counts.started)],
        ['Succeeded', count(schedule.counts.succeeded)],
        ['Failed', count(schedule.counts.failed)],
        ['Missed', count(schedule.counts.missed)],
        ['Skipped', count(schedule.counts.skipped)],
      ])}
      <div class="columns">
        <section>
          <h2>Last runs</h2>
          ${table(
            [
              { title: 'Run', value: run => runLink(schedule, run) },
              { title: 'For', value: run => html`<span title=${run.nominal}>${moment(run.nominal)}</span>` },
              { title: 'Ended', value: run => (run.ending ? html`<span title=${run.reason ?? ''}>${status(run.ending)}</span>` : status(run.cancelled ? 'cancelled' : 'running')) },
              { title: 'Took', kind: 'number', value: run => (run.ended ? duration(millis(run.ended) - millis(run.started)) : nothing) },
              { title: 'Cause', value: run => run.cause },
            ],
            [...schedule.active, ...schedule.results],
            { caption: 'Last runs', none: html`<p class="calm">It has not run yet.</p>` })}
        </section>
        <section>
          <h2>Next times</h2>
          <ol class="times">${schedule.next.map(at => html`<li><code>${zoned(at)}</code> <span class="calm">${time(at)}</span></li>`)}</ol>
        </section>
      </div>
      <h2>What it runs</h2>
      ${json(schedule.target)}
      ${commandLine(`./millrace schedules show ${quoted(name)}`)}
    `;
  }
}

define('millrace-schedules', Schedules);
define('millrace-schedule', Schedule);
