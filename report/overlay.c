/* overlay.c - finds published figures; see overlay.h. */
#include "report/overlay.h"

#include <string.h>

const struct overlay *overlay_by_name(const char *name, const char **hint) {
  const char *names[17] = {NULL};
  for (unsigned i = 0; overlay_list[i].name != NULL; i++) {
    if (strcmp(overlay_list[i].name, name) == 0) return &overlay_list[i];
    if (i < 16) names[i] = overlay_list[i].name;
  }
  *hint = plan_nearest(name, names);
  return NULL;
}

static bool is_of(const struct overlay_figure *figure, const struct plan_group *group) {
  const struct plan_demand *demand = &group->demand;
  return figure->request_bytes == demand->request_bytes && figure->access == demand->access &&
         figure->direction == demand->direction && (!figure->size_bytes || figure->size_bytes == demand->size_bytes) &&
         (!figure->loops || figure->loops == group->loops);
}

const struct overlay_figure *overlay_find(const struct overlay *overlay, const struct plan_group *group,
                                          const struct plan_cell *cell) {
  if (overlay == NULL || cell->style[0] == '\0') return NULL;
  for (unsigned i = 0; i < overlay->count; i++) {
    const struct overlay_figure *figure = &overlay->figures[i];
    if (is_of(figure, group) && strcmp(figure->style, cell->style) == 0) return figure;
  }
  return NULL;
}
