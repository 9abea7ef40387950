; Start-up, cartridge header, the VBlank interrupt and the two loops that must be fast.
	.module crt0
	.globl _main

	.area _HEADER (ABS)

	.org 0x0040
	jp vblank

	.org 0x0100
	nop
	jp start

	; the 48 bytes every boot ROM compares before it starts a cartridge
	.org 0x0104
	.db 0xCE,0xED,0x66,0x66,0xCC,0x0D,0x00,0x0B,0x03,0x73,0x00,0x83,0x00,0x0C,0x00,0x0D
	.db 0x00,0x08,0x11,0x1F,0x88,0x89,0x00,0x0E,0xDC,0xCC,0x6E,0xE6,0xDD,0xDD,0xD9,0x99
	.db 0xBB,0xBB,0x67,0x63,0x6E,0x0E,0xEC,0xCC,0xDD,0xDC,0x99,0x9F,0xBB,0xB9,0x33,0x3E
	.org 0x0134
	.ascii "TALLGRASS"
	.org 0x0147
	.db 0x03        ; MBC1 + RAM + battery
	.db 0x01        ; 64 KiB of ROM
	.db 0x02        ; 8 KiB of RAM
	.db 0x01
	.db 0x33
	.db 0x00
	; 014D-014F: checksums, filled in by tools/finish_rom.py

	.org 0x0150
start:
	di
	xor a
	ldh (0x40),a    ; LCD off
	ldh (0x26),a    ; sound off
	ld hl,#0xC000   ; clear all work RAM: nothing is ever read unset
	ld bc,#0x2000
1$:	xor a
	ld (hl+),a
	dec bc
	ld a,b
	or a,c
	jr nz,1$
	ld hl,#0xFF80
	ld b,#0x7F
	xor a
2$:	ld (hl+),a
	dec b
	jr nz,2$
	ld hl,#0x8000   ; and tile memory
	ld bc,#0x2000
3$:	xor a
	ld (hl+),a
	dec bc
	ld a,b
	or a,c
	jr nz,3$
	ld sp,#0xDFFE
	ld hl,#dma_code ; sprites are copied by code in high RAM
	ld de,#0xFF80
	ld b,#10
4$:	ld a,(hl+)
	ld (de),a
	inc de
	dec b
	jr nz,4$
	ld a,#1
	ldh (0xFF),a    ; VBlank only
	xor a
	ldh (0x0F),a
	ei
	call _main
5$:	halt
	nop
	jr 5$

dma_code:
	ld a,#0xC0
	ldh (0x46),a
	ld a,#40
1$:	dec a
	jr nz,1$
	ret

vblank:
	push af
	push bc
	push de
	push hl
	ld a,(_screen_shown)
	or a,a
	call nz,copy_third
	ld a,(_edge_kind)
	or a,a
	jr z,1$
	dec a
	call z,copy_rows
	ld a,(_edge_kind)
	cp a,#2
	call z,copy_columns
	xor a
	ld (_edge_kind),a
1$:	call 0xFF80
	ld a,(_layer)   ; the map scrolls at 9800, the screen of text and menus rests at 9C00
	or a,a
	jr z,2$
	ld bc,#0
	ld a,#0x8B
	jr 3$
2$:	ld a,(_scroll_x)
	ld b,a
	ld a,(_scroll_y)
	ld c,a
	ld a,#0x83
3$:	ldh (0x40),a
	ld a,b
	ldh (0x43),a
	ld a,c
	ldh (0x42),a
	call read_pad
	call play_time
	ld a,#1
	ld (_frame_done),a
	pop hl
	pop de
	pop bc
	pop af
	reti

; A third of the screen's tile map (six rows) goes to the map at 9C00 each frame.
copy_third:
	ld (_saved_sp),sp
	ld a,(_third)
	or a,a
	jr nz,1$
	ld sp,#0xC3A0
	ld hl,#0x9C00
	jr 3$
1$:	dec a
	jr nz,2$
	ld sp,#0xC418
	ld hl,#0x9CC0
	jr 3$
2$:	ld sp,#0xC490
	ld hl,#0x9D80
3$:	ld b,#6
4$:	ld c,#2
5$:	pop de
	ld (hl),e
	inc l
	ld (hl),d
	inc l
	pop de
	ld (hl),e
	inc l
	ld (hl),d
	inc l
	pop de
	ld (hl),e
	inc l
	ld (hl),d
	inc l
	pop de
	ld (hl),e
	inc l
	ld (hl),d
	inc l
	pop de
	ld (hl),e
	inc l
	ld (hl),d
	inc l
	dec c
	jr nz,5$
	ld de,#12
	add hl,de
	dec b
	jr nz,4$
	ld hl,#_saved_sp
	ld a,(hl+)
	ld h,(hl)
	ld l,a
	ld sp,hl
	ld a,(_third)
	inc a
	cp a,#3
	jr c,6$
	xor a
6$:	ld (_third),a
	ret

load_edge:
	ld hl,#_edge_source
	ld a,(hl+)
	ld e,a
	ld d,(hl)
	ld hl,#_edge_target
	ld a,(hl+)
	ld h,(hl)
	ld l,a
	ret

; Two new rows of 20 tiles; the background map wraps every 32 columns.
copy_rows:
	call load_edge
	call 1$
	ld a,l
	and a,#0xE0
	ld l,a
	ld a,(_edge_target)
	and a,#0x1F
	or a,l
	add a,#32
	ld l,a
	ld a,h
	adc a,#0
	and a,#0x03
	or a,#0x98
	ld h,a
1$:	ld a,l
	and a,#0xE0
	ld c,a
	ld b,#10
2$:	ld a,(de)
	ld (hl+),a
	inc de
	ld a,(de)
	ld (hl),a
	inc de
	inc l
	ld a,l
	and a,#0x1F
	or a,c
	ld l,a
	dec b
	jr nz,2$
	ret

; Two new columns of 18 tiles; columns come in pairs, so only the rows wrap.
copy_columns:
	call load_edge
	ld b,#18
1$:	ld a,(de)
	ld (hl+),a
	inc de
	ld a,(de)
	ld (hl),a
	ld a,e
	add a,#19
	ld e,a
	jr nc,2$
	inc d
2$:	ld a,l
	add a,#31
	ld l,a
	ld a,h
	adc a,#0
	and a,#0x03
	or a,#0x98
	ld h,a
	dec b
	jr nz,1$
	ret

; FFB4: held buttons, A 01, B 02, select 04, start 08, right 10, left 20, up 40, down 80
read_pad:
	ld a,#0x20
	ldh (0x00),a
	ldh a,(0x00)
	ldh a,(0x00)
	cpl
	and a,#0x0F
	swap a
	ld b,a
	ld a,#0x10
	ldh (0x00),a
	ldh a,(0x00)
	ldh a,(0x00)
	ldh a,(0x00)
	ldh a,(0x00)
	cpl
	and a,#0x0F
	or a,b
	ldh (0xB4),a
	ld a,#0x30
	ldh (0x00),a
	ret

play_time:
	ld a,(_clock_runs)
	or a,a
	ret z
	ld hl,#0xDA45
	inc (hl)
	ld a,(hl)
	cp a,#60
	ret c
	xor a
	ld (hl-),a
	inc (hl)        ; seconds
	ld a,(hl)
	cp a,#60
	ret c
	xor a
	ld (hl-),a
	inc (hl)        ; minutes
	ld a,(hl)
	cp a,#60
	ret c
	xor a
	ld (hl-),a
	dec hl
	ld a,(hl)       ; hours
	inc a
	jr z,1$
	ld (hl),a
	ret
1$:	inc hl
	ld (hl),#0xFF   ; the clock has run out
	ret

; void draw_view(void): fill the screen's tile map from the block map.
; view_block points at the block of the upper left square; view_odd bit 1 is set
; when that square is the right half of its block, bit 3 when it is the lower half.
; The tiles of the blocks are at 4000 in the bank of data.
_draw_view::
	ld a,#2
	ld (0x2000),a
	ld de,#0xC3A0
	ld a,#9
	ld (view_rows),a
1$:	ld hl,#_view_block
	ld a,(hl+)
	ld c,a
	ld b,(hl)
	ld a,(_view_odd)
	ld (view_part),a
	ld a,#10
	ld (view_columns),a
2$:	ld a,(bc)
	ld l,a
	ld h,#0
	add hl,hl
	add hl,hl
	add hl,hl
	add hl,hl
	ld a,(view_part)
	or a,l
	ld l,a
	set 6,h
	ld a,(hl+)
	ld (de),a
	inc de
	ld a,(hl+)
	ld (de),a
	inc hl
	inc hl
	ld a,e
	add a,#19
	ld e,a
	jr nc,3$
	inc d
3$:	ld a,(hl+)
	ld (de),a
	inc de
	ld a,(hl)
	ld (de),a
	ld a,e
	sub a,#19
	ld e,a
	jr nc,4$
	dec d
4$:	ld a,(view_part)
	xor a,#2
	ld (view_part),a
	and a,#2
	jr nz,5$
	inc bc
5$:	ld hl,#view_columns
	dec (hl)
	jr nz,2$
	ld a,e
	add a,#20
	ld e,a
	jr nc,6$
	inc d
6$:	ld a,(_view_odd)
	xor a,#8
	ld (_view_odd),a
	and a,#8
	jr nz,7$
	ld a,(_map_stride)
	ld hl,#_view_block
	add a,(hl)
	ld (hl+),a
	jr nc,7$
	inc (hl)
7$:	ld hl,#view_rows
	dec (hl)
	jr nz,1$
	ld a,#1
	ld (0x2000),a
	ret

	.area _CODE
	.area _HOME
	.area _DATA
_frame_done::
	.ds 1
_screen_shown::
	.ds 1
_third::
	.ds 1
_edge_kind::
	.ds 1
_edge_source::
	.ds 2
_edge_target::
	.ds 2
_scroll_x::
	.ds 1
_scroll_y::
	.ds 1
_layer::
	.ds 1
_clock_runs::
	.ds 1
_view_block::
	.ds 2
_view_odd::
	.ds 1
_map_stride::
	.ds 1
_saved_sp:
	.ds 2
view_rows:
	.ds 1
view_columns:
	.ds 1
view_part:
	.ds 1
